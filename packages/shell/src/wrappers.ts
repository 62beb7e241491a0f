/** How a program that runs another finds it among its own words. */
export interface Wrapper {
  /** Its options: `-fv` two flags, `-k=` and `--signal=` with a value, `-S!` with a value that is text for a shell. */
  readonly options: string
  /** How many words of its own stand between its options and the command. */
  readonly operands?: number
  /** These words may also be missing: it is read both with and without them. */
  readonly mayLackOperands?: boolean
  /** With one of these options no words of its own stand before the command. */
  readonly noOperandsWith?: readonly string[]
  /** A lone `-` is an option of its own. */
  readonly hasLoneDash?: boolean
  /** `A=b` may stand before the command. */
  readonly hasAssignments?: boolean
  /** With one of these options it runs no command. */
  readonly idle?: readonly string[]
  /** It joins the words of the command to a text for a shell: always, or with one of these options. */
  readonly joins?: true | readonly string[]
  /** It adds words that are only known at run time. */
  readonly appends?: boolean
  /** Its own options may follow its operands. */
  readonly isMixed?: boolean
}

/** Every operand belongs to the wrapper itself: it runs only what its options name. */
const ALL = Number.POSITIVE_INFINITY

/** What setarch and the programs named after a machine take. */
const PERSONALITY =
  '-vRFZLXBIST3 --verbose --32bit --fdpic-funcptrs --short-inode --addr-compat-layout --addr-no-randomize --whole-seconds --sticky-timeouts --read-implies-exec --mmap-page-zero --3gb --4gb --uname-2.6'

/** Programs and builtins that run the command they are given; an option that is not listed here is doubtful. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'env',
    {
      options:
        '-i0v -u= -C= -P= -a= -S! --split-string! --ignore-environment --null --debug --unset= --chdir= --argv0= --block-signal --default-signal --ignore-signal --list-signal-handling',
      hasAssignments: true,
      hasLoneDash: true,
      joins: ['-S', '--split-string'],
    },
  ],
  ['command', { options: '-pvV', idle: ['-v', '-V'] }],
  ['builtin', { options: '' }],
  ['exec', { options: '-cl -a=' }],
  ['nice', { options: '-0123456789 -n= --adjustment=' }],
  [
    'ionice',
    { options: '-t -c= -n= -p= -P= -u= --class= --classdata= --ignore --pid=', idle: ['-p', '-P', '-u', '--pid'] },
  ],
  ['nohup', { options: '' }],
  [
    'timeout',
    { options: '-fpv -k= -s= --foreground --preserve-status --verbose --kill-after= --signal=', operands: 1 },
  ],
  ['setsid', { options: '-cfw --ctty --fork --wait' }],
  ['stdbuf', { options: '-i= -o= -e= --input= --output= --error=' }],
  ['time', { options: '-apqv -f= -o= --append --portability --quiet --verbose --format= --output=' }],
  ['gtime', { options: '-apqv -f= -o=' }],
  [
    'chrt',
    {
      options:
        '-abdefimorRv -T= -P= -D= -p= --all-tasks --batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose',
      operands: 1,
    },
  ],
  ['taskset', { options: '-ac -p= --all-tasks --cpu-list', operands: 1 }],
  [
    'numactl',
    {
      options:
        '-al -C= -N= -m= -i= -p= --all --localalloc --cpunodebind= --physcpubind= --membind= --interleave= --preferred=',
    },
  ],
  ['setarch', { options: PERSONALITY, operands: 1, mayLackOperands: true, isMixed: true }],
  ...['linux32', 'linux64', 'i386', 'x86_64', 'uname26'].map((name): [string, Wrapper] => [
    name,
    { options: PERSONALITY },
  ]),
  ['choom', { options: '-n= --adjust= -p= --pid=', idle: ['-p', '--pid'] }],
  ['chronic', { options: '-ev' }],
  ['eatmydata', { options: '' }],
  ['tini', { options: '-sgvwh -p= -e= --version' }],
  ['dumb-init', { options: '-cvVh -r= --single-child --verbose --version --help --rewrite=' }],
  ['gosu', { options: '', operands: 1 }],
  ['su-exec', { options: '', operands: 1 }],
  [
    'prlimit',
    { options: '-p= --pid= --nofile= --nproc= --cpu= --as= --fsize= --core= --data= --stack=', idle: ['-p', '--pid'] },
  ],
  [
    'setpriv',
    {
      options:
        '-d --no-new-privs --clear-groups --keep-groups --init-groups --reset-env --reuid= --regid= --groups= --ruid= --euid= --rgid= --egid= --inh-caps= --ambient-caps= --bounding-set= --securebits= --pdeathsig=',
    },
  ],
  [
    'xargs',
    {
      options:
        '-0rtpxoile -I= -d= -E= -n= -L= -s= -P= -a= --null --no-run-if-empty --verbose --interactive --exit --open-tty --replace --max-lines --eof --delimiter= --max-args= --max-procs= --max-chars= --arg-file= --process-slot-var=',
      appends: true,
    },
  ],
  [
    'sudo',
    {
      options:
        '-ABbEHinPSs -C= -D= -g= -h= -p= -R= -r= -T= -t= -U= -u= --askpass --background --preserve-env --set-home --login --non-interactive --preserve-groups --stdin --shell --user= --group= --host= --prompt= --chdir= --chroot= --role= --type= --close-from= --command-timeout= --other-user=',
      hasAssignments: true,
      joins: ['-s', '-i', '--shell', '--login'],
    },
  ],
  ['doas', { options: '-Lns -a= -C= -u=', joins: ['-s'] }],
  ['pkexec', { options: '--disable-internal-agent --keep-cwd --user=' }],
  [
    'su',
    {
      options:
        '-flmpP -g= -G= -s= -w= -c! --command! --session-command! --fast --login --preserve-environment --pty --group= --supp-group= --shell= --whitelist-environment=',
      operands: ALL,
      isMixed: true,
    },
  ],
  [
    'runuser',
    {
      options:
        '-flmpP -g= -G= -s= -u= -w= -c! --command! --session-command! --login --pty --user= --group= --supp-group= --shell=',
      operands: ALL,
      noOperandsWith: ['-u', '--user'],
      isMixed: true,
    },
  ],
  [
    'watch',
    {
      options:
        '-bcdegptwx -n= -q= --beep --color --differences --errexit --chgexit --precise --no-title --no-wrap --exec --interval= --equexit=',
      joins: true,
    },
  ],
  [
    'parallel',
    {
      options:
        '-kqtuvXmr0 -j= -n= -N= -l= -L= -I= -a= -P= -S= -d= --keep-order --bar --dry-run --line-buffer --will-cite --no-notice --pipe --tag --jobs= --halt= --joblog= --colsep= --arg-file= --max-args=',
      joins: true,
      appends: true,
    },
  ],
  [
    'script',
    {
      options:
        '-aefqt -B= -E= -I= -O= -T= -m= -o= -c! --command! --append --return --flush --force --quiet --timing --echo= --log-in= --log-out= --log-io= --log-timing= --output-limit=',
      operands: ALL,
      isMixed: true,
    },
  ],
  [
    'flock',
    {
      options:
        '-eFnosuxv -E= -w= -c! --command! --exclusive --nonblock --nb --close --shared --unlock --no-fork --verbose --timeout= --wait= --conflict-exit-code=',
      operands: 1,
      isMixed: true,
    },
  ],
  [
    'unshare',
    {
      options:
        '-imnpuUCTfrc -R= -S= -w= -G= --ipc --mount --net --pid --uts --user --cgroup --time --fork --map-root-user --map-current-user --mount-proc --kill-child --propagation= --setgroups= --root= --wd= --setuid= --setgid=',
    },
  ],
  [
    'nsenter',
    {
      options:
        '-aimnpuUCTFre -t= -S= -G= -W= --all --mount --uts --ipc --net --pid --user --no-fork --root --wd --target= --setuid= --setgid=',
    },
  ],
  ['chroot', { options: '--skip-chdir --userspec= --groups=', operands: 1 }],
  [
    'strace',
    {
      options:
        '-cCdDfFhikqrtTvwxyYzZn -e= -E= -p= -s= -o= -u= -P= -I= -O= -S= -a= -b= -U= -X= --follow-forks --summary --summary-only --output= --trace= --attach= --user= --env= --string-limit=',
    },
  ],
  ['ltrace', { options: '-cCfhiLrStTb -a= -A= -D= -e= -F= -l= -n= -o= -p= -s= -u= -w= -x=' }],
  [
    'ssh',
    {
      options:
        '-46AaCfGgKkMNnqsTtvXxYy -B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -p= -P= -Q= -R= -S= -W= -w=',
      operands: 1,
      joins: true,
      isMixed: true,
    },
  ],
  ['busybox', { options: '--list --list-full --help', idle: ['--list', '--list-full', '--help'] }],
  ['toybox', { options: '--long --help --version', idle: ['--help', '--version'] }],
  ['fakeroot', { options: '-u -l= -s= -i= -b= --unknown-is-real' }],
  ['unbuffer', { options: '-p' }],
  ['rlwrap', { options: '-acimnopNArRU -b= -C= -D= -f= -g= -H= -l= -M= -O= -P= -q= -s= -S= -t= -z= -J=' }],
  ['dbus-run-session', { options: '' }],
  ['xvfb-run', { options: '-al -e= -f= -n= -p= -s= -w= --auto-servernum --server-args= --server-num=' }],
  ['proxychains', { options: '-q -f=' }],
  ['proxychains4', { options: '-q -f=' }],
  ['torsocks', { options: '-di -a= -u= -p= -P=' }],
  [
    'systemd-run',
    {
      options:
        '-dGPqrtS -E= -H= -M= -p= -u= --user --system --scope --pty --pipe --wait --quiet --collect --same-dir --unit= --property= --setenv= --uid= --gid= --slice= --nice= --working-directory=',
    },
  ],
  ['caffeinate', { options: '-disu -t= -w=' }],
  ['mapfile', { options: '-t -d= -n= -O= -s= -u= -c= -C!', operands: ALL }],
  ['readarray', { options: '-t -d= -n= -O= -s= -u= -c= -C!', operands: ALL }],
  ['complete', { options: '-abcdefgjksuvprDEI -o= -A= -G= -W! -F= -X= -P= -S= -C!', operands: ALL }],
  ['compgen', { options: '-abcdefgjksuv -o= -A= -G= -W! -F= -X= -P= -S= -V= -C!', operands: ALL }],
])

/** Shells: `-c` takes a text; without it they run a file, or what comes in. */
export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ksh93 mksh lksh pdksh ash hush rbash rksh yash posh fish csh tcsh'.split(' '),
)
