# SPDX-License-Identifier: MIT
"""matrix - the rows of all probes, as a table for people and as JSON."""
import json

from witness import MIB


def _percent(part, whole):
    return f'{100 * part / whole:.1f}' if whole else '-'


def _cells(version, pages, setup, found):
    return [version, pages, setup.filesystem, setup.libc, setup.start, setup.cache,
            f'{setup.read_ahead_kib}K', setup.touch,
            setup.method + ('' if setup.advise == 'auto' else f' ({setup.advise})'),
            _percent(found.total('large_bytes'), found.total('text_bytes')),
            _percent(found.total('whole_bytes'), found.total('text_bytes')),
            _percent(found.total('large_bytes'), found.total('whole_bytes')),
            _percent(found.total('block_bytes'), found.total('text_bytes')),
            f'{found.read_bytes / MIB:.0f}']


HEADINGS = ['kernel', 'pages', 'filesystem', 'libc', 'loaded', 'cache', 'read-ahead', 'touched',
            'method', 'large, % of text', 'ceiling %', 'large, % of whole blocks', 'PMD, % of text',
            'read, MiB']


def markdown(rows):
    """The table."""
    lines = ['| ' + ' | '.join(HEADINGS) + ' |', '|' + '---|' * len(HEADINGS)]
    lines += ['| ' + ' | '.join(_cells(*row)) + ' |' for row in rows]
    return '\n'.join(lines) + '\n'


def figures_markdown(figures):
    """What scenarios measured, a line each."""
    lines = []
    for figure in figures:
        values = {name: value for name, value in figure.items()
                  if name not in ('kernel', 'pages', 'figure', 'what')}
        lines.append(f"- {figure['kernel']} {figure['pages']}, {figure['figure']}, "
                     f"{figure['what']}: " + ', '.join(
                         f'{name} {value:.3f}' if isinstance(value, float) else f'{name} {value}'
                         for name, value in values.items()))
    return '\n'.join(lines) + '\n' if lines else ''


def _record(version, pages, setup, found):
    return {'kernel': version, 'pages': pages, **setup.__dict__,
            'text_bytes': found.total('text_bytes'),
            'whole_blocks_bytes': found.total('whole_bytes'),
            'touched_bytes': found.total('touched_bytes'),
            'contpte_bytes': found.total('contpte_bytes'),
            'pmd_bytes': found.total('block_bytes'),
            'report_excess_bytes': found.total('excess_bytes'),
            'read_bytes': found.read_bytes,
            'libraries': [library.__dict__ for library in found.libraries]}


def write(rows, figures, json_file, markdown_file):
    """Prints the table and the figures, and writes them where it was asked for."""
    text = '\n'.join(part for part in (markdown(rows) if rows else '', figures_markdown(figures))
                     if part)
    if text:
        print(text)
    if markdown_file:
        with open(markdown_file, 'w', encoding='utf-8') as out:
            out.write(text)
    if json_file:
        with open(json_file, 'w', encoding='utf-8') as out:
            json.dump({'schema': 'execalign-qemu-1', 'rows': [_record(*row) for row in rows],
                       'figures': figures}, out, indent=1)
            out.write('\n')
