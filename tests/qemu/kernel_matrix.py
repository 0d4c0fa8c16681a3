# SPDX-License-Identifier: MIT
"""kernel_matrix - what the kernel cases have measured, as tables for people and as JSON."""
import json

from matrix import figures_markdown
from witness import KIB, MIB

UNKNOWN = 'unknown'


def _percent(part, whole):
    if part is None:
        return UNKNOWN
    return f'{100 * part / whole:.1f}' if whole else '-'


def _table(headings, rows):
    if not rows:
        return ''
    lines = ['| ' + ' | '.join(headings) + ' |', '|' + '---|' * len(headings)]
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows]) + '\n'


def _where(figure):
    return [figure['kernel'], figure['pages'], figure['series'], figure['filesystem']]


WHERE = ['kernel', 'pages', 'series', 'filesystem']


def _shares(figures):
    """Of text: what is mapped large, by page table and by smaps."""
    headings = WHERE + ['libc', 'read-ahead', 'touched', 'large, % of whole blocks',
                        'aligned, % of whole blocks', 'large, % of text', 'ceiling %',
                        'ContPteMapped, % of text', 'PMD, % of text', 'read, MiB']
    return _table(headings, [_where(figure) + [
        figure['libc'], f"{figure['read_ahead_kib']}K", figure['touched'],
        _percent(figure['contpte_bytes'] + figure['pmd_bytes'], figure['whole_blocks_bytes']),
        _percent(figure['congruent_bytes'], figure['whole_blocks_bytes']),
        _percent(figure['contpte_bytes'] + figure['pmd_bytes'], figure['text_bytes']),
        _percent(figure['whole_blocks_bytes'], figure['text_bytes']),
        _percent(figure['smaps_contpte_bytes'], figure['text_bytes']),
        _percent(figure['pmd_bytes'], figure['text_bytes']),
        f"{figure['read_bytes'] / MIB:.0f}"] for figure in figures])


def _size(size):
    return f'{size // MIB}M' if size >= MIB else f'{size // KIB}K'


def _text_sizes(figures):
    """Of text that is mapped: in folios of what size it is."""
    sizes = sorted({size for figure in figures for size in figure['folios']})
    headings = WHERE + ['programs', 'processes', 'text mapped, MiB', 'present, MiB'] + [
        f'{_size(size)} folios, %' for size in sizes] + ['ContPteMapped, %', 'PMD, %']
    return _table(headings, [_where(figure) + [
        figure['what'], str(figure['processes']), f"{figure['mapped_bytes'] / MIB:.1f}",
        f"{figure['present_bytes'] / MIB:.1f}"] + [
        _percent(figure['folios'].get(size, 0), figure['present_bytes']) for size in sizes] + [
        _percent(figure['contpte_bytes'], figure['present_bytes']),
        _percent(figure['pmd_bytes'], figure['present_bytes'])] for figure in figures])


def _folios(figures):
    """Tables as of a page cache: where each folio is, and where read-ahead goes on."""
    parts = []
    for figure in figures:
        lines = [f"Linux {figure['kernel']}, {figure['pages']} pages, {figure['series']} the series,"
                 f" {figure['filesystem']}, {figure['file']}: {figure['what']}",
                 f"{'offset':>12} {'size':>8} {'order':>5}  read-ahead mark"]
        lines += [f'{offset:12} {_size(size):>8} {order:5}  ' + ('yes' if mark else '-')
                  for offset, size, order, mark in figure['folios']]
        parts.append('\n'.join(lines) + '\n')
    return '\n'.join(parts)


# Figures that have a table of their own; folios go to another file.
TABLES = {'share': ('Text mapped large', _shares),
          'text sizes': ('Text by folio size', _text_sizes)}


def _of(figures, kind):
    return [figure for figure in figures if figure['figure'] == kind]


def _markdown(figures):
    parts = []
    for kind, (title, table) in TABLES.items():
        text = table(_of(figures, kind))
        parts += [f'## {title}\n\n{text}'] if text else []
    rest = figures_markdown([figure for figure in figures
                             if figure['figure'] not in (*TABLES, 'folios')])
    return '\n'.join(parts + ([f'## Other figures\n\n{rest}'] if rest else []))


def write(figures, json_file, markdown_file, folios_file):
    """Prints the tables, and writes everything where it was asked for."""
    text, folios = _markdown(figures), _folios(_of(figures, 'folios'))
    print('\n'.join(part for part in (text, folios) if part))
    for file, content in ((markdown_file, text), (folios_file, folios)):
        if file:
            with open(file, 'w', encoding='utf-8') as out:
                out.write(content)
    if json_file:
        with open(json_file, 'w', encoding='utf-8') as out:
            json.dump({'schema': 'execalign-kernel-1', 'figures': figures}, out, indent=1)
            out.write('\n')
