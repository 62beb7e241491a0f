// A bare Hono echo on Node: the floor for anything that answers JSON over HTTP.
import { serve } from '../../node_modules/@hono/node-server/dist/index.mjs'
import { Hono } from '../../node_modules/hono/dist/index.js'

const app = new Hono()
app.post('/echo', async (context) => context.json(await context.req.json()))
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.send({ url: `http://127.0.0.1:${port}` }),
)
process.on('disconnect', () => process.exit())
