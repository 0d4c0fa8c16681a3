# SPDX-License-Identifier: MIT
"""scenarios - real programs in a guest, with the shim and without: they must do the same

Each function is called with a Bench (bench.py) and raises Failure when something is not as it must
be. What they measure goes into bench.figures.
"""
import json
import re

from bench import Failure, Skip
from witness import MIB, root_of

METHODS = ('plain', 'audit', 'preload')
PLACING = ('audit', 'preload')
FIXTURES = '/opt/fixtures/lib'


def in_root(bench, method, command, prefix='', seconds=120, filesystem='ext4'):
    """Output of a command in the chroot; a prefix is for the shell before it."""
    root = root_of(filesystem, method)
    return bench.run(f'{prefix} in_root {root} {method} {command}', seconds)


def _same(bench, command, prefix='', methods=PLACING):
    """Runs it plain and by each method: the output must be the same. Returns it."""
    plain = in_root(bench, 'plain', command, prefix)
    for method in methods:
        output = in_root(bench, method, command, prefix)
        if output != plain:
            raise Failure(f'{method}: {command} prints {output[-200:]!r}, without {plain[-200:]!r}')
    return plain


def promotion(bench):
    """A preloaded program executes itself once more, and neither it nor a child can tell."""
    script = (r'''import os; '''
              r'''print(sorted(k+'='+v for k,v in os.environ.items() if k!='LD_PRELOAD')); '''
              r'''print(sorted(s for s in open('/proc/self/environ').read().split(chr(0)) '''
              r'''if '=' in s and not s.startswith('LD_PRELOAD='))); '''
              r'''print(open('/proc/self/cmdline').read().split(chr(0))[0], flush=True); '''
              r'''os.system('/usr/bin/env | grep -v LD_PRELOAD | sort')''')
    command = f'/usr/bin/python3 -c "{script}"'
    plain = in_root(bench, 'plain', command)
    promoted = in_root(bench, 'preload', command)
    if promoted != plain:
        raise Failure(f'python3 sees {promoted[-300:]!r}, without the shim {plain[-300:]!r}')
    copies = in_root(bench, 'preload', "/usr/bin/python3 -c \"print(sum('r-xp' in l and "
                     "'libexecalign' in l for l in open('/proc/self/maps')))\"")
    if copies != '2':
        raise Failure(f'python3 has {copies} copies of the shim, not one preloaded and one auditing')


def _must_place(bench, command, libraries, prefix=''):
    """By the shim's own log, that many libraries became congruent under LD_PRELOAD."""
    in_root(bench, 'preload', command,
                  f'EXTRA_ENVIRONMENT=EXECALIGN_LOG=/tmp/log; rm -f /mnt/ext4/tmp/log; {prefix}')
    log = bench.run('cat /mnt/ext4/tmp/log')
    if log.count('result=congruent') < libraries:
        raise Failure(f'{command}: fewer than {libraries} libraries became congruent: {log[-300:]}')


def static_tls(bench):
    """glibc's static TLS reserve under an auditor (bug 31991): promotion makes the room."""
    for program in ('tls', 'tls128'):
        _same(bench, f'/tools/bin/{program}', methods=['preload'])
    _must_place(bench, '/tools/bin/tls', 1)


def dlopen_from_threads(bench):
    """Eight threads at once, of different libraries and of the same."""
    libraries = ' '.join(f'{FIXTURES}/libmany{number}.so' for number in range(8))
    for mode in ('quiet', 'noisy'):
        _same(bench, f'/tools/bin/threads {mode} {libraries}')
    _must_place(bench, f'/tools/bin/threads quiet {libraries}', 8)


def address_limit(bench):
    """RLIMIT_AS: everything works as without, placed where there is room."""
    command = f'/tools/bin/app call open:{FIXTURES}/libmany0.so reserved'
    for kib in (4000000, 300000, 150000):
        _same(bench, command, prefix=f'ulimit -v {kib};')
    _must_place(bench, command, 3, 'ulimit -v 4000000;')


def static_program(bench):
    """Untouched, exit status and all."""
    outcomes = {method: bench.guest.run(f'in_root ext4 {method} /tools/bin/static')
                for method in METHODS}
    if 'LD_PRELOAD unset, LD_AUDIT unset' not in outcomes['plain'][1]:
        raise Failure(f"static does not run: {outcomes['plain']}")
    for method in PLACING:
        if outcomes[method][0] != outcomes['plain'][0]:
            raise Failure(f'{method}: {outcomes[method]}, without {outcomes["plain"]}')


def randomness(bench, starts=128):
    """The first placed library has as many places as the kernel gives: 2^mmap_rnd_bits."""
    bits = int(bench.run('cat /proc/sys/vm/mmap_rnd_bits'))
    output = in_root(bench, 'plain', f'/tools/bin/starts {starts} '
                     'LD_PRELOAD=/tools/libexecalign.so /tools/bin/app bases', seconds=300)
    rows = [line.split() for line in output.splitlines()]
    if len(rows) != starts:
        raise Failure(f'{len(rows)} of {starts} starts: {output[-200:]}')
    for index, library in enumerate(('libtext5m.so', 'libtext10m.so')):
        _check_random(bench, library, [int(row[index], 16) for row in rows], bits)


def _check_random(bench, name, bases, bits):
    block = 2 * MIB
    misplaced = sum(base % block != 0 for base in bases)
    if misplaced:
        raise Failure(f'{name}: {misplaced} of {len(bases)} starts misplaced')
    # Draws of 2^bits places: the expected number of pairs is n^2/2/2^bits; 9 bits less, and there
    # would be 512 times as many.
    pairs = len(bases) - len(set(bases))
    expected = len(bases) ** 2 / 2 / 2 ** bits
    if pairs > expected + 4 * expected ** 0.5 + 2:
        raise Failure(f'{name}: {pairs} bases of {len(bases)} are repeated, {expected:.1f} '
                      f'expected with {bits} bits')
    spread = max(bases) - min(bases)
    if spread < block << (bits - 1):
        raise Failure(f'{name}: bases are spread over {spread >> 20} MiB only')
    bench.figures.append({'figure': 'randomness', 'what': name, 'starts': len(bases),
                          'distinct': len(set(bases)), 'mmap_rnd_bits': bits,
                          'spread_mib': spread // MIB})


# --- What real programs read from the disk

# Command; whether it starts under LD_AUDIT alone (jemalloc does not: glibc's bug 31991); how many times
# the bytes that it reads without the shim it may read. clang jumps about in its text: of what comes
# with the blocks of 2 MiB that it touches, it uses about half.
APPLICATIONS = {
    'clang': ('clang -O1 -ffreestanding -c -o /tmp/words.o /tools/apps/words.c', True, 1.6),
    'python3': ('python3 /tools/apps/modules.py', True, 1.3),
    'redis': ('sh /tools/apps/redis.sh', False, 1.3),
}


def _cold_start(bench, filesystem, method, command):
    """(output, bytes read, reads) of a program of which nothing is cached."""
    bench.run('cold; read_ahead 128')
    bytes_before, reads_before = bench.run('disk_reads').split()
    output = in_root(bench, method, command, seconds=240, filesystem=filesystem)
    bytes_after, reads_after = bench.run('disk_reads').split()
    return output, int(bytes_after) - int(bytes_before), int(reads_after) - int(reads_before)


def application(name, filesystem):
    """A cold start: the same output, and not many more bytes read."""
    def run(bench):
        command, audits, ratio_max = APPLICATIONS[name]
        seen = {}
        for method in ('plain', 'audit', 'preload', 'run') if audits else ('plain', 'preload', 'run'):
            if method == 'run':
                seen[method] = _cold_start(bench, filesystem, 'plain',
                                           f'/tools/execalign run -- {command}')
            else:
                seen[method] = _cold_start(bench, filesystem, method, command)
            bench.figures.append({'figure': 'cold start', 'what': name, 'filesystem': filesystem,
                                  'method': method, 'read_bytes': seen[method][1],
                                  'reads': seen[method][2],
                                  'ratio': seen[method][1] / seen['plain'][1]})
        plain_output, plain_bytes, _ = seen['plain']
        for method, (output, size, _) in seen.items():
            if output != plain_output:
                raise Failure(f'{method}: {output[-200:]!r}, without {plain_output[-200:]!r}')
            if size > ratio_max * plain_bytes:
                raise Failure(f'{method}: reads {size / MIB:.1f} MiB, '
                              f'without the shim {plain_bytes / MIB:.1f} MiB')
    return run


AS_NOBODY = ('/usr/bin/python3 -c "import os, sys; os.setgroups([]); os.setgid(65534); '
             'os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])"')


def prime(bench, root, libraries, user=''):
    """(What execalign prime says about these files of /mnt/ROOT, bytes that it has read from disks).

    user: a command in front of it.
    """
    before, _ = bench.run('disk_reads').split()
    # The console is a terminal: what goes there gets a progress bar.
    status, output = bench.guest.run(
        f"chroot /mnt/{root} {user} /tools/execalign prime --json {' '.join(libraries)} "
        '2>/tmp/prime.err', 240)
    after, _ = bench.run('disk_reads').split()
    if status not in (0, 1):
        raise Failure(f"execalign prime: exit status {status}: {bench.run('cat /tmp/prime.err')[-300:]}")
    return json.loads(output), int(after) - int(before)


# --- The third witness

SAMPLES_MIN = 200
# How long openssl computes, until there are as many: a guest on a busy machine gets few.
SAMPLED_SECONDS = (1, 5, 20)


def executed_samples(bench):
    """The kernel's word on what openssl's sha256 executes through, in libcrypto."""
    if bench.version == '6.12':
        raise Skip('the shim promises nothing there: what is large depends on the page cache')
    for method, option in (('plain', '--plain'), ('run', '')):
        entries = _enough_samples(bench, option)
        share = entries.get(2 * MIB, 0) / sum(entries.values())
        bench.figures.append({'figure': 'samples', 'what': 'libcrypto in openssl speed sha256',
                              'method': method, 'at_2m': share, 'entries': entries})
        if share > 0.05 if method == 'plain' else share < 0.95:
            raise Failure(f'{method}: samples by size of entry: {entries}')


def _enough_samples(bench, option):
    """{size of entry: samples} in libcrypto, from a cold start."""
    for seconds in SAMPLED_SECONDS:
        bench.run('cold; read_ahead 128')
        output = in_root(bench, 'plain', f'/tools/execalign report --json {option} -- '
                                         f'/usr/bin/openssl speed -seconds {seconds} '
                                         '-bytes 16384 sha256')
        entries = _samples_by_entry(last_json(output), 'libcrypto.so.3')
        if sum(entries.values()) >= SAMPLES_MIN:
            return entries
    raise Failure(f'{sum(entries.values())} samples in {seconds} s: {entries}')


def last_json(output):
    """The report behind what the program itself has printed."""
    return json.loads(output[re.search(r'^\{', output, re.MULTILINE).start():])


def _samples_by_entry(report, library):
    if report['samples']['count'] is None:
        raise Failure(f"no samples: {report['samples']['reason']}")
    for thing in report['processes'][0]['objects']:
        if thing['path'].endswith(library):
            return {entry['entry_bytes']: entry['samples']
                    for entry in thing['samples']['entries']}
    raise Failure(f'report does not mention {library}')


# --- The cost of a start, in instructions

PROGRAMS = {'true': '/usr/bin/true', 'six small libraries': '/tools/bin/probe-needed -q',
            'clang --version': '/usr/bin/clang --version', 'python3 -c pass':
            '/usr/bin/python3 -c pass'}
# What the shim may add: under the auditor to a large program, preloaded to one with nothing to gain.
AUDITOR_RATIO_MAX = 1.05
NOTHING_TO_GAIN_RATIO_MAX = 1.2
# What the patched loader may add, to any program.
PATCHED_RATIO_MAX = 1.02


def start_instructions(bench):
    """Counts with QEMU's -icount, warm; the smallest of some starts, which repeat exactly."""
    with bench.boot(icount=True) as counting:
        counting.run('read_ahead 128')
        for name, command in PROGRAMS.items():
            counts = {method: _instructions(counting, method, command)
                      for method in (*METHODS, 'patched')}
            for method, count in counts.items():
                bench.figures.append({'figure': 'start', 'what': name, 'method': method,
                                      'instructions': count,
                                      'ratio': count / counts['plain']})
            _check_cost(name, counts)


def _instructions(bench, method, command):
    """The first round brings everything into the cache."""
    for _ in range(2):
        output = in_root(bench, method, f'/tools/bin/launch -n 5 {command}', seconds=300)
    match = re.search(r'LAUNCH count=5 failed=0 min=(\d+)', output)
    if not match:
        raise Failure(f'{method}: {output[-200:]}')
    return int(match[1])


def _check_cost(name, counts):
    if counts['patched'] > PATCHED_RATIO_MAX * counts['plain']:
        raise Failure(f"{name}: {counts['patched']} instructions by the patched loader, "
                      f"{counts['plain']} by Debian's")
    if name == 'true' and counts['preload'] > NOTHING_TO_GAIN_RATIO_MAX * counts['plain']:
        raise Failure(f"true: {counts['preload']} instructions preloaded, {counts['plain']} without")
    if name == 'clang --version' and counts['audit'] > AUDITOR_RATIO_MAX * counts['plain']:
        raise Failure(f"{name}: {counts['audit']} instructions under the auditor, "
                      f"{counts['plain']} without")
