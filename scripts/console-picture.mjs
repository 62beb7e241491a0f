// Takes the picture of the console for the README: an agent's edit that waits for an approval.
// Needs a build: node --import ./test/support/load-typescript.mjs scripts/console-picture.mjs [folder for pictures of all pages]
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { startConsoleService } from '../test/support/console-service.ts'
import { launchBrowser } from '../test/support/launch-browser.ts'

const PICTURE = 'docs/console.png'
const MAX_BYTES = 200_000
const SIZE = { width: 1280, height: 800 }
const PHONE = { width: 360, height: 740 }
const FILE = `import { readConfig } from './config.js'

/** How long a request may take, and how often it is tried. */
export const limits = {
  timeoutMs: 5_000,
  attempts: 3,
  backoffMs: 200,
}

export function retryAfter(attempt) {
  return limits.backoffMs * attempt
}
`
const PAGES = [
  ['live', '/live'],
  ['approvals', '/approvals'],
  ['inbox', '/inbox'],
  ['canvas', '/canvas'],
  ['runs', '/runs'],
  ['run', '/runs/fix-timeouts'],
  ['changes', '/runs/fix-timeouts?tab=changes'],
  ['agents', '/agents'],
  ['schedules', '/schedules'],
  ['memory', '/memory'],
  ['tools', '/tools'],
  ['tool', '/tools/core%2Ffs.readText?tab=try'],
  ['policy', '/policy'],
  ['policy-edit', '/policy?view=edit'],
  ['audit', '/audit'],
  ['audit-calls', '/audit?view=calls'],
  ['audit-tokens', '/audit?view=tokens'],
  ['machines', '/machines'],
  ['health', '/health'],
]

const service = await startConsoleService()
const browser = await launchBrowser()
try {
  await act(service)
  await takePicture()
  if (process.argv[2] !== undefined) await takeAll(process.argv[2])
} finally {
  for (const { id } of await service.owner.approvals.list())
    await service.owner.approvals.answer(id, { decision: 'deny', remember: 'once' })
  await browser.close()
  await service.close()
}

/** A morning's work of an agent, up to what it must ask for. */
async function act({ agent, owner, folder }) {
  const run = 'fix-timeouts'
  folder.write('limits.js', FILE)
  folder.write('notes.md', '# Notes\n\nRequests time out.\n')
  await agent.call('core/fs.searchText', { query: 'timeout', root: '.' }, { run })
  await agent.call('core/fs.readText', { path: 'limits.js' }, { run })
  await agent.call('core/fs.readText', { path: 'limit.js' }, { run })
  const noted = agent.call(
    'core/fs.edit',
    { path: 'notes.md', oldText: 'time out.', newText: 'time out after 5 s.' },
    { run },
  )
  const { id } = await nextAsk(owner)
  await owner.approvals.answer(id, { decision: 'allow', remember: 'once' })
  await noted
  await agent.call('test/nests', {}, { run })
  const edits = [
    { oldText: 'timeoutMs: 5_000', newText: 'timeoutMs: 30_000' },
    { oldText: 'limits.backoffMs * attempt', newText: 'limits.backoffMs * 2 ** (attempt - 1)' },
  ]
  const purpose =
    'Slow answers of the payment service end in errors; give them more time, and wait longer between attempts.'
  void agent.call('core/exec.run', { command: 'npm test -- limits && rm -rf build' }, { run })
  await nextAsk(owner)
  void agent.call('core/fs.edit', { path: 'limits.js', edits }, { run, purpose })
  await nextAsk(owner, 2)
}

async function nextAsk(owner, count = 1) {
  for (;;) {
    const asks = await owner.approvals.list()
    if (asks.length >= count) return asks[0]
  }
}

async function takePicture() {
  const page = await open({ viewport: SIZE, colorScheme: 'light' }, '/approvals')
  await page.getByRole('figure', { name: 'Changes of limits.js' }).waitFor()
  await page.screenshot({ path: PICTURE })
  const { size } = await stat(PICTURE)
  if (size > MAX_BYTES) throw new Error(`${PICTURE} has ${size} bytes, more than ${MAX_BYTES}.`)
  console.log(`${PICTURE}: ${size} bytes`)
}

async function takeAll(folder) {
  await mkdir(folder, { recursive: true })
  for (const [kind, options] of [
    ['light', { viewport: SIZE, colorScheme: 'light' }],
    ['dark', { viewport: SIZE, colorScheme: 'dark' }],
    ['phone', { viewport: PHONE, colorScheme: 'light' }],
  ]) {
    const page = await open(options, '/live')
    for (const [name, path] of PAGES) {
      await page.goto(service.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('status').filter({ hasText: 'connected' }).waitFor()
      await page.waitForTimeout(500)
      await page.screenshot({ path: join(folder, `${name}-${kind}.png`) })
    }
  }
}

async function open(options, path) {
  const context = await browser.newContext({ deviceScaleFactor: 1, ...options })
  const page = await context.newPage()
  await page.goto(`${service.url}${path}#sign-in=${service.ownerToken}`)
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  return page
}
