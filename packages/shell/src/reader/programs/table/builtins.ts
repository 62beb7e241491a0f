import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

/** Small programs and what the shell itself brings. */
export const BUILTINS: readonly ProgramTable[] = [
  { names: 'echo', style: 'none', operands: 'texts' },
  {
    names: 'true false : pwd whoami id groups arch uname nproc tty logname uptime sleep seq yes factor',
    operands: 'texts',
  },
  { names: 'expr', style: 'none', operands: 'texts' },
  { names: 'test [', style: 'none' },
  {
    names: 'printf',
    style: 'exact',
    rows: [reachRow('-v=TEXT', 'sets a variable of the shell', '-v X')],
    operands: 'texts',
    clean: '%s x',
  },
  {
    names: 'date gdate',
    rows: [
      reachRow('-s --set=TEXT', 'sets the clock', '-s 10:00'),
      reachRow('-f --file=FILE', 'reads dates from a file', '-f in.txt'),
    ],
    texts: '-d --date',
    files: '-r --reference',
    maybes: '-I --iso-8601 --rfc-3339',
    operands: 'texts',
    operandRows: [{ like: /^\d/, kind: 'reach', reason: 'sets the clock', example: '10301200' }],
    clean: '-u +%s',
  },
  {
    names: 'hostname domainname',
    rows: [
      reachRow('-F --file=FILE', 'sets the name of the machine', '-F x'),
      reachRow('-b --boot', 'sets the name of the machine', '-b'),
    ],
    operands: 'texts',
    operandRows: [{ kind: 'reach', reason: 'sets the name of the machine', example: 'x' }],
    clean: '-f',
  },
  { names: 'which type whereis', operands: 'texts' },
  {
    names: 'cd pushd popd',
    operands: 'paths',
    implied: { kind: 'reach', reason: 'changes the folder that later words are read from', example: 'x' },
  },
  {
    names:
      'export declare typeset local readonly set unset unalias trap read mapfile readarray getopts let ulimit umask (( coproc',
    style: 'none',
    implied: { kind: 'reach', reason: 'changes what later commands do', example: 'x' },
  },
  {
    names: 'enable alias hash shopt bind complete',
    style: 'none',
    implied: { kind: 'hidden', reason: 'can put other code behind a name', example: 'x' },
  },
  {
    names: 'fc history',
    style: 'none',
    implied: { kind: 'hidden', reason: 'runs what was typed before', example: 'x' },
  },
  {
    names: 'printenv',
    operands: 'texts',
    implied: { kind: 'reach', reason: 'shows the environment', example: '' },
  },
  {
    names: 'ps pgrep free vmstat who w last lsblk findmnt lsof netstat',
    style: 'none',
  },
  {
    names:
      'ip ifconfig mount ss dmesg journalctl top htop kill pkill killall skill reboot shutdown halt systemctl service sysctl modprobe insmod umount mkfs fdisk swapon useradd passwd',
    operands: 'texts',
    implied: { kind: 'reach', reason: 'changes the machine or what runs on it', example: '1' },
  },
  {
    names: 'bundle',
    projectFiles: 'Gemfile Gemfile.lock',
    commands: [
      { names: 'list info show check outdated version', operands: 'texts' },
      {
        names: 'exec',
        stopsAtOperand: true,
        carries: 'operand',
        operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs', example: 'x' }],
      },
    ],
    otherwise: { kind: 'reach', reason: 'fetches packages, and their scripts run', example: 'install' },
    clean: 'list',
  },
  {
    names: 'apt apt-get aptitude dpkg yum dnf rpm pacman apk zypper brew port nix-env cpan luarocks',
    rows: [
      hiddenRow('-o --option=TEXT', 'sets an option, and some name a program to run', '-o x=y install'),
      hiddenRow('--pre-invoke --post-invoke --status-logger=TEXT', 'runs a command line', '--pre-invoke=x install'),
    ],
    implied: { kind: 'reach', reason: 'installs software, whose scripts run', example: 'install x' },
  },
  {
    names: 'snap flatpak nix nix-shell gem composer',
    projectFiles: 'composer.json composer.lock',
    mayRunWords: true,
    rows: [hiddenRow('-o --option=TEXT', 'sets an option, and some name a program to run', '--option x y')],
    implied: { kind: 'reach', reason: 'installs software or runs it', example: 'install x' },
  },
]

/** Programs that run the program their operands name; the reader of a command line takes that program out and examines it too. */
export const WRAPPER_PROGRAMS: readonly ProgramTable[] = [
  {
    names: 'env genv',
    rows: [
      hiddenRow('-S --split-string=TEXT', 'takes a text apart and runs it', '-S ls'),
      reachRow('-C --chdir=FILE', 'works in another folder', '-C x ls'),
      reachRow('-P=FILE', 'looks for programs in other folders', '-P x ls'),
      reachRow('-u --unset=TEXT', 'takes a variable away', '-u HOME ls'),
      reachRow('-f --file=FILE', 'reads variables from a file', '-f x ls'),
    ],
    stopsAtOperand: true,
    operandRows: [{ like: /=/, to: 1, kind: 'reach', reason: 'changes the environment', example: 'X=1' }],
    implied: { kind: 'hidden', reason: 'runs another program, or shows the environment', example: 'ls' },
  },
  {
    names:
      'nice nohup timeout gtimeout setsid stdbuf ionice taskset chrt time command builtin exec watch script unbuffer ' +
      'flock catchsegv linux32 linux64 setarch caffeinate entr',
    style: 'exact',
    rows: [reachRow('-o --output=FILE', 'writes a file', '-o x ls')],
    stopsAtOperand: true,
    implied: { kind: 'hidden', reason: 'runs another program', example: 'ls' },
  },
  {
    names:
      'sudo doas su pkexec runuser setpriv capsh chroot unshare bwrap firejail systemd-run at batch crontab newgrp sg ' +
      'fakeroot proot',
    stopsAtOperand: true,
    operandRows: [
      { to: 1, kind: 'hidden', reason: 'is a program that runs with other rights or later', example: 'ls' },
    ],
    implied: { kind: 'hidden', reason: 'gives other rights, or runs something later', example: '' },
  },
  {
    // The program and its words stand in options, behind `--`, or in a folder.
    names: 'start-stop-daemon run-parts daemonize daemon chpst setuidgid softlimit runsv envdir supervise',
    implied: { kind: 'hidden', reason: 'starts other programs', example: '-S -x ls' },
  },
  {
    names: 'hg svn jj fossil bzr darcs',
    rows: [
      hiddenRow(
        '--config --config-option --config-toml=TEXT',
        'sets a configuration value, and many name a program',
        '--config x',
      ),
    ],
    implied: { kind: 'reach', reason: 'reads or changes a repository, and runs its hooks', example: 'log' },
  },
  {
    names: 'gdb lldb',
    style: 'words',
    rows: [
      hiddenRow('-x -command -s -source=FILE', 'reads commands from a file', '-x x a.out'),
      hiddenRow('-ex -eval-command -o -one-line=TEXT', 'is a command for it', '-ex x a.out'),
    ],
    flags: '-v -version -h -help',
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or a command', example: 'ls' }],
    implied: {
      unless: '-v -version -h -help',
      isUnnamed: true,
      kind: 'hidden',
      reason: 'takes commands from its input, and some start programs',
      example: 'a.out',
    },
    clean: '--version',
  },
  {
    names: 'strace ltrace perf valgrind ftrace bpftrace dtrace rr',
    stopsAtOperand: true,
    rows: [
      hiddenRow('-x --command=FILE', 'reads commands from a file', '-x x ls'),
      reachRow('-o --output=FILE', 'writes a file', '-o x ls'),
    ],
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or a command', example: 'ls' }],
  },
]
