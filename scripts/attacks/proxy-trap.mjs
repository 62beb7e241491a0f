// The proxies that a case puts into the environment: nobody may ever connect to one.
import { createServer } from 'node:net'

/** Starts a port that counts who comes. */
export async function startProxyTrap() {
  let visits = 0
  const server = createServer((socket) => {
    visits += 1
    socket.on('error', () => {}).destroy()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${server.address().port}`

  return {
    /** Runs something with the variables of a case, whose proxies all lead here; returns how often one was used. */
    async within(env, work) {
      const before = { visits, env: new Map(Object.keys(env).map((name) => [name, process.env[name]])) }
      for (const [name, value] of Object.entries(env)) process.env[name] = leadTo(host, String(value))
      try {
        await work()
      } finally {
        for (const [name, value] of before.env) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      }
      return visits - before.visits
    },
    close: () => server.close(),
  }
}

/** The same proxy, moved to where it can be watched. */
function leadTo(host, value) {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?([^/@\s]*@)?[a-z0-9.-]+:\d+/i, (_, scheme = '', user = '') => {
    return `${scheme}${user}${host}`
  })
}
