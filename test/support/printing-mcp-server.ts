import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../src/core/tool.ts'
import { createHub } from '../../src/hub/hub.ts'
import { serveMcpStdio } from '../../src/server/mcp/serve.ts'

/** A process that serves over stdio a tool that prints in every way there is. */
const print = defineTool({
  name: 'print',
  description: 'Prints.',
  input: z.strictObject({}),
  execute: () => {
    console.log('logged')
    console.info('noted')
    console.debug('traced')
    process.stdout.write('written\n')
    return 'printed'
  },
})

const hub = createHub({ tools: [print], runs: join(process.cwd(), 'runs'), data: join(process.cwd(), 'data') }, [])
const server = await serveMcpStdio(hub)
await server.closed
await hub.close()
