import type { ProgramTable } from '../program-table.ts'
import { reachRow } from '../row.ts'

/** Programs that look for files. */
export const FIND: readonly ProgramTable[] = [
  {
    names: 'find gfind',
    style: 'words',
    rows: [
      reachRow('-exec', 'runs a program on what it finds', '-exec cat {} ;'),
      reachRow('-execdir', 'runs a program in the folder of what it finds', '-execdir cat {} ;'),
      reachRow('-ok -okdir', 'runs a program on what it finds', '-ok cat {} ;'),
      reachRow('-delete', 'deletes what it finds', '-delete'),
      reachRow('-fprint -fprint0 -fls=FILE', 'writes a file', '-fprint out.txt'),
      // It takes a file and a format; the format is then read as an operand.
      reachRow('-fprintf=FILE', 'writes a file', '-fprintf out.txt %p'),
      reachRow('-files0-from=FILE', 'reads the folders to search from a file', '-files0-from list'),
      reachRow('-f=FILE', 'names one more folder to search', '-f /etc'),
    ],
    texts:
      '-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size ' +
      '-mtime -atime -ctime -mmin -amin -cmin -maxdepth -mindepth -user -group -uid -gid -perm -links -inum -fstype ' +
      '-used -printf -context -D -Bmin -flags',
    files: '-newer -anewer -cnewer -samefile -newermm -neweraa -newercc -newerma -newerac',
    operands: 'paths',
    clean: '. -type f ( -name *.go -o -name *.mod ) -not -path ./vendor/* -print',
  },
  {
    names: 'fd fdfind',
    style: 'exact',
    rows: [
      reachRow('-x --exec=TEXT', 'runs a program on what it finds', '-x cat'),
      reachRow('-X --exec-batch=TEXT', 'runs a program on what it finds', '-X cat'),
      reachRow('--ignore-file=FILE', 'reads names to leave out from a file', '--ignore-file=x'),
    ],
    texts: '-e --extension -t --type -d --max-depth --min-depth --exact-depth -E --exclude -S --size -c --color -j',
    files: '--search-path --base-directory -C',
    operands: { texts: 1 },
    clean: '-e go main src/',
  },
  {
    names: 'locate plocate mlocate',
    rows: [reachRow('-d --database=FILE', 'reads another database', '-d x.db')],
    texts: '-l --limit -n',
    operands: 'texts',
    implied: { kind: 'reach', reason: 'lists files of the whole machine', example: 'passwd' },
  },
  {
    names: 'tree',
    rows: [
      reachRow('-o=FILE', 'writes a file', '-o out.txt'),
      reachRow('-R', 'writes a file into every folder', '-R'),
      reachRow('--fromfile --fromtabfile[=FILE]', 'reads a listing from a file', '--fromfile list.txt'),
      reachRow('--gitfile --infofile=FILE', 'reads patterns from a file', '--gitfile=x'),
    ],
    texts: '-L -P -I -H -T --charset --filelimit --timefmt',
    maybes: '--sort',
    operands: 'paths',
    clean: '-a -L 2 src/',
  },
  {
    names: 'xargs gxargs parallel',
    rows: [
      reachRow('-a --arg-file=FILE', 'reads the arguments from a file', '-a list.txt cat'),
      reachRow('--process-slot-var=TEXT', 'sets a variable of the program it runs', '--process-slot-var=X cat'),
      reachRow('-p -o --open-tty --interactive', 'opens the terminal', '-p cat'),
    ],
    texts: '-n --max-args -P --max-procs -I -L -s --max-chars -d --delimiter -E -J -R -S',
    maybes: '-i -l -e --replace --max-lines --eof',
    stopsAtOperand: true,
    operands: 'texts',
    implied: { kind: 'hidden', reason: 'runs a program with words from its input', example: 'cat' },
  },
]
