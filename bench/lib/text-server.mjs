// A server of 10 KB of text in a process of its own, so that it does not share a thread with its clients.
import { createServer } from 'node:http'

const TEXT = `${'0123456789abcdef '.repeat(6)}\n`.repeat(100).slice(0, 10_240)
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(TEXT.length) })
  response.end(TEXT)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('disconnect', () => process.exit())
