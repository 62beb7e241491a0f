// Runs inside a sandbox, alongside the command: listens on loopback and pipes every connection to the proxy's unix socket,
// because curl, git and npm support proxies on TCP only. Only this file and node are mounted in the sandbox, so it imports
// nothing of the project; it is plain JavaScript so that the sources and a build contain the same file.
//
// node bridge-main.mjs SOCKET PORT: prints "ready" and a newline when it listens.
import { connect, createServer } from 'node:net'

const [path, port] = process.argv.slice(2)

const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (near) => {
  const far = connect({ path, allowHalfOpen: true })
  join(near, far)
  join(far, near)
  far.on('connect', () => {
    near.pipe(far)
    far.pipe(near)
  })
})
server.on('error', (error) => {
  // It is of no use without its port; a caller that waits for "ready" sees its exit instead.
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))

// No connection may end the others, and there may be nobody left to read what is printed.
process.on('uncaughtException', () => {})
process.stdout.on('error', () => {})

/**
 * When one side breaks, so does the other, after it has received everything before; pipe() passes on a regular end.
 * @param {import('node:net').Socket} from
 * @param {import('node:net').Socket} to
 */
function join(from, to) {
  from.on('error', () => to.write('', () => to.resetAndDestroy()))
  from.on('close', () => from.readableEnded || to.destroySoon())
}
