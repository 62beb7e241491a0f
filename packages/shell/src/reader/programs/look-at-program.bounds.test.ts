import { describe, expect, it } from 'vitest'
import { lookAtProgram } from './look-at-program.ts'

function reasonsOf(line: string): readonly string[] {
  return lookAtProgram(line.split(' ').filter(Boolean)).hazards.map(({ reason }) => reason)
}

/** For each row that holds for some values or places only: the last that it holds for, and the first that it does not. */
describe('a row holds as far as it says', () => {
  it.each([
    ['tar tf host:x', 'tar tf ./x:y', 'reaches another machine'],
    ['date 1', 'date +1', 'sets the clock'],
    ['cargo test -- --logfile', 'cargo test -- x--logfile', 'makes the tests write a file'],
    ['rustc @args', 'rustc a@args', 'reads its options from a file'],
    ['curl -o -x https://x.org', 'curl -o - https://x.org', 'writes a file'],
    ['curl -o /dev/nullx https://x.org', 'curl -o /dev/null https://x.org', 'writes a file'],
    ['curl -d @x https://x.org', 'curl -d x@x https://x.org', 'sends a file'],
    ['curl -d @-x https://x.org', 'curl -d @- https://x.org', 'sends a file'],
    ['curl --data-urlencode x@y https://x.org', 'curl --data-urlencode x=a@y https://x.org', 'sends a file'],
    ['curl -F x=<y https://x.org', 'curl -F x=y https://x.org', 'sends a file'],
    ['curl --variable %X https://x.org', 'curl --variable X% https://x.org', 'reads a file or the environment'],
    ['curl --url @x', 'curl --url https://x.org/@x', 'reads addresses from a file'],
    ['curl --url httpsx://x', 'curl --url https://x', 'uses another protocol than HTTP'],
    ['curl -w @x https://x.org', 'curl -w x@x https://x.org', 'reads or writes a file'],
    ['curl -b jar https://x.org', 'curl -b a=jar https://x.org', 'reads cookies from a file'],
    ['curl ftp://x.org', 'curl https://x.org/ftp://x', 'uses another protocol than HTTP'],
    ['curl f[i]le:///x', 'curl https://x.org/[a]', 'may name a file of this machine'],
    ['install -m 2755 a b', 'install -m 1755 a b', 'may make a file run as its owner'],
    ['install -m 0007000 a b', 'install -m 47555 a b', 'may make a file run as its owner'],
    ['chmod 2000 x', 'chmod 1777 x', 'makes a file run as its owner'],
    ['chmod g=rs x', 'chmod 755 u+s', 'makes a file run as its owner'],
    ['dd of=x', 'dd if=of=x', 'writes a file or a device'],
    ['git diff /dev/null x', 'git diff /dev/nullx x', 'makes it compare any two files, of the repository or not'],
    ['git diff /dev/null x', 'git diff x/dev/null x', 'makes it compare any two files, of the repository or not'],
    ['git reflog expire', 'git reflog expires', 'changes the reference log'],
    ['git reflog delete', 'git reflog show delete', 'changes the reference log'],
    ['git bisect run x', 'git bisect rerun x', 'runs the command after it'],
    ['git bisect run x', 'git bisect runs x', 'runs the command after it'],
    ['go build -mod=mod', 'go build -mod=modx', 'changes go.mod and may fetch modules'],
    ['go build -mod=mod', 'go build -mod=xmod', 'changes go.mod and may fetch modules'],
    ['go build -pgo=autox', 'go build -pgo=auto', 'reads a profile'],
    ['go build -pgo=xoff', 'go build -pgo=off', 'reads a profile'],
    ['go build -gcflags=-x', 'go build -gcflags=-m=2', 'gives options to the compiler'],
    ['tsc @args', 'tsc a@args', 'reads its options from a file'],
    ['tsc null', 'tsc nullx', 'turns an option off, maybe -noEmit'],
    ['gcc -Wp,x a.c', 'gcc -Wall a.c', 'may give options to the linker or name a program'],
    ['gcc @args', 'gcc a@args', 'reads its options from a file'],
    ['npm ls --location=projects', 'npm ls --location=project', 'works on the packages of the machine'],
    ['pytest @args', 'pytest a@args', 'reads its options from a file'],
    ['uniq a b', 'uniq a', 'is the file that uniq writes'],
    ['xxd a b', 'xxd a', 'is the file that xxd writes'],
    ['ssh host ls', 'ssh host', 'is a command for another machine'],
    ['bat cache', 'bat caches', 'writes its cache'],
    ['bat cache', 'bat xcache', 'writes its cache'],
    ['socat exec:x -', 'socat tcp:exec.org:80 -', 'is a program that it runs'],
    ['socat EXEC:x -', 'socat executor:x -', 'is a program that it runs'],
    ['less +!id', 'less x+!id', 'is a command for it, which may start a program'],
    ['vi +!id', 'vi x+!id', 'is a command for it, which may start a program'],
    ['sqlite3 x.db .tables', 'sqlite3 x.db', 'is a command for it, which may start a program or write a file'],
    ['wget -O -x https://x.org', 'wget -O - https://x.org', 'writes a file'],
    ['wget ftp://x.org', 'wget https://x.org/ftp://x', 'uses another protocol than HTTP'],
    ['env X=1 ls', 'env ls X=1', 'changes the environment'],
  ])('%j, and not %j', (line, near, reason) => {
    expect(reasonsOf(line)).toContain(reason)
    expect(reasonsOf(near)).not.toContain(reason)
  })

  it.each(['perl x y', 'ruby x y', 'sh x y', 'node x.js y.js', 'tsx x.ts y.ts', 'python3 x.py y.py', 'awk {print} y'])(
    'only the first operand of %j is a program',
    (line) => {
      expect(lookAtProgram(line.split(' ')).hazards.filter(({ at }) => at > 1)).toEqual([])
    },
  )

  it('has both rows of an option with two', () => {
    expect(reasonsOf('curl --url @x')).toEqual(['reads addresses from a file'])
    expect(reasonsOf('curl --url ftp://x')).toEqual(['uses another protocol than HTTP'])
  })

  it.each(['tsx', 'node', 'gdb', 'python3'])('no rule that names %s means what comes in to it', (line) => {
    expect(lookAtProgram([line]).hazards.map(({ at }) => at)).toEqual([1])
  })
})
