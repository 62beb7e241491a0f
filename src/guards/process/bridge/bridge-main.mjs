// Runs inside a jail, beside the command: listens on loopback and pipes every connection to the proxy's unix socket,
// because curl, git and npm know proxies on TCP only. Only this file and node are bound into the jail, so it imports
// nothing of the project; it is plain JavaScript so that it is the same file in the sources and in a build.
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
  // Without its port it is of no use; whoever waits for "ready" sees the end instead.
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))

// Nothing that one connection does may end the others, and nobody may be left to read what is printed.
process.on('uncaughtException', () => {})
process.stdout.on('error', () => {})

/**
 * When one side breaks, so does the other, after it has got all that had come; an orderly end is passed on by pipe().
 * @param {import('node:net').Socket} from
 * @param {import('node:net').Socket} to
 */
function join(from, to) {
  from.on('error', () => to.write('', () => to.resetAndDestroy()))
  from.on('close', () => from.readableEnded || to.destroySoon())
}
