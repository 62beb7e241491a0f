// The service with one trivial tool, records in the default durability.
import { startService } from '../../packages/tool-hub/dist/serve.js'
import { add } from '../lib/ours.mjs'
import { ownerRules } from '../lib/rules.mjs'

const [folder] = process.argv.slice(2)
const options = { tools: [add], policy: ownerRules(50), runs: `${folder}/runs`, data: `${folder}/data` }
const rate = { perSecond: 1e9, burst: 1e9 }
const { url, token } = await startService(options, { port: 0, rate })
process.send({ url, token })
process.on('disconnect', () => process.exit())
