// A hub with the trivial tool over stdio: rules, budget, records, everything.
import { serveMcpStdio } from '../../packages/tool-hub/dist/mcp.js'
import { echoHub } from '../lib/echo-hub.mjs'

const hub = echoHub({ runs: process.argv[2], count: 1 })
await (await serveMcpStdio(hub)).closed
await hub.close()
