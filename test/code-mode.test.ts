import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import type { ScriptResult } from '@tool-hub/code/types'
import { expect, it } from 'vitest'
import type { ToolResult } from '../packages/core/src/call.ts'
import { useHttpHub } from './support/http-hub.ts'

const web = useHttpHub()

/** Of what direct calls put into the context of a model, a script may put this much there. */
const MAX_SHARE = 0.02
const PEOPLE = ['ada', 'bob', 'cleo', 'dan', 'eve']

/** Makes a call and returns its data. */
type Call = (tool: string, input: object) => Promise<unknown>

/** A task of an agent: the calls of a model that makes them one by one, and the script that does the same. */
interface Task {
  readonly name: string
  readonly files?: Readonly<Record<string, string>>
  readonly pages?: Readonly<Record<string, string>>
  /** What the model finds out; for tasks that change something, what is changed is compared as well. */
  readonly direct: (call: Call, url: string) => Promise<unknown>
  readonly script: string
  /** What the script reads as `input`: what the model knows from its task. */
  readonly input?: (url: string) => unknown
}

const TASKS: readonly Task[] = [countTodos(), joinApis(), renameFunction(), summariseLogs(), fillForms(), reconcile()]

it.each(TASKS)('$name: the same outcome with 2 % of the context', async (task) => {
  const direct = await perform(task, async (call, url) => task.direct(call, url))
  const scripted = await perform(task, async (call, url) => {
    const input = { code: task.script, ...(task.input && { input: task.input(url) }) }
    const { status, value, message } = (await call('core/code.run', input)) as ScriptResult
    expect({ status, message }).toEqual({ status: 'completed' })
    return value
  })
  expect(scripted.outcome).toEqual(direct.outcome)
  expect(scripted.chars / direct.chars).toBeLessThanOrEqual(MAX_SHARE)
})

/** Does a task in a folder and with a web server of its own, and counts the characters that the model gets to see. */
async function perform({ files = {}, pages = {} }: Task, work: (call: Call, url: string) => Promise<unknown>) {
  const { hub, root } = web.fileHub()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const posted: string[] = []
  web.local.answer = async (request, response) => {
    if (request.method === 'POST') posted.push(await bodyOf(request))
    const page = request.method === 'POST' ? '{"ok":true}' : pages[request.url!]
    const type = page?.startsWith('<') ? 'text/html' : 'application/json'
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': type }).end(page ?? '{}')
  }
  let chars = 0
  const call: Call = async (tool, input) => {
    const result = await hub.callDynamic(tool, input)
    chars += JSON.stringify(input).length + shownChars(result)
    if (!result.ok) throw new Error(`${tool}: ${result.error.code} ${result.error.message}`)
    return result.data
  }
  const value = await work(call, web.url(''))
  const after = Object.keys(files).map((name) => [name, readFileSync(join(root, name), 'utf8')])
  return { chars, outcome: { value, posted: posted.sort(), after } }
}

function shownChars({ content }: ToolResult): number {
  return content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** A source file of about 6 KB. */
function source(n: number, name = 'loadUser'): string {
  const body = Array.from({ length: 60 }, (_, line) => {
    if (line % 20 === n % 20)
      return `  // TODO(${PEOPLE[(n + line) % PEOPLE.length]}): handle case ${line} of module ${n}`
    if (line % 30 === 7) return `  const user${line} = await ${name}(request.params.id${line}, { cache: module${n} })`
    return `  const value${line} = compute(module${n}.settings, 'option-${line}', previous.value${line - 1} ?? ${line * n})`
  })
  return `import { ${name}, compute } from './users.ts'\n\nexport async function handle${n}(request, previous) {\n${body.join('\n')}\n}\n`
}

function countTodos(): Task {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`src/module-${n}.ts`, source(n)]))
  return {
    name: 'reads 50 files and counts',
    files,
    async direct(call) {
      const { files: found } = (await call('core/fs.find', { pattern: '*.ts' })) as { files: string[] }
      const counts: Record<string, number> = {}
      for (const path of found) {
        const { text } = (await call('core/fs.readText', { path })) as { text: string }
        for (const [, who] of text.matchAll(/TODO\((\w+)\)/g)) counts[who!] = (counts[who!] ?? 0) + 1
      }
      return counts
    },
    script: `const { files } = await tools.core.fs.find({ pattern: '*.ts' })
const texts = await Promise.all(files.map((path) => tools.core.fs.readText({ path })))
const counts = {}
for (const { text } of texts)
  for (const [, who] of text.matchAll(/TODO\\((\\w+)\\)/g)) counts[who] = (counts[who] ?? 0) + 1
return counts`,
  }
}

function joinApis(): Task {
  const pages: Record<string, string> = {}
  for (let page = 0; page < 4; page++)
    pages[`/customers?page=${page}`] = JSON.stringify(
      Array.from({ length: 50 }, (_, row) => {
        const id = page * 50 + row
        return {
          id,
          name: `Customer ${id} Ltd`,
          email: `office@customer-${id}.example`,
          city: `Town ${id % 17}`,
          vat: `GB${id * 7_919}`,
        }
      }),
    )
  for (let page = 0; page < 10; page++)
    pages[`/orders?page=${page}`] = JSON.stringify(
      Array.from({ length: 50 }, (_, row) => {
        const id = page * 50 + row
        return {
          id,
          customer: (id * 37) % 200,
          total: (id * 13) % 400,
          currency: 'GBP',
          placed: `2026-0${1 + (id % 9)}-11`,
          state: id % 7 ? 'paid' : 'cancelled',
        }
      }),
    )
  type Row = { id: number; name: string; customer: number; total: number; state: string }
  return {
    name: 'joins two APIs',
    pages,
    input: (url) => url,
    async direct(call, url) {
      const all = async (path: string, count: number) => {
        const rows: Row[] = []
        for (let page = 0; page < count; page++)
          rows.push(
            ...((await call('core/http.fetchJson', { url: `${url}${path}?page=${page}` })) as { json: Row[] }).json,
          )
        return rows
      }
      const [customers, orders] = [await all('/customers', 4), await all('/orders', 10)]
      const sums = new Map<number, number>()
      for (const { customer, total, state } of orders)
        if (state === 'paid') sums.set(customer, (sums.get(customer) ?? 0) + total)
      return [...sums]
        .sort(([a, x], [b, y]) => y - x || a - b)
        .slice(0, 5)
        .map(([id, sum]) => [customers.find((each) => each.id === id)!.name, sum])
    },
    script: `const all = async (path, count) =>
  (await Promise.all(Array.from({ length: count }, (_, page) =>
    tools.core.http.fetchJson({ url: \`\${input}\${path}?page=\${page}\` })))).flatMap(({ json }) => json)
const [customers, orders] = await Promise.all([all('/customers', 4), all('/orders', 10)])
const sums = {}
for (const { customer, total, state } of orders) if (state === 'paid') sums[customer] = (sums[customer] ?? 0) + total
return Object.entries(sums).sort(([a, x], [b, y]) => y - x || a - b).slice(0, 5)
  .map(([id, sum]) => [customers.find((each) => each.id === Number(id)).name, sum])`,
  }
}

function renameFunction(): Task {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`src/${n % 5}/module-${n}.ts`, source(n, n % 4 ? 'loadUser' : 'loadTeam')]),
  )
  return {
    name: 'refactors over a tree',
    files,
    async direct(call) {
      const { files: found } = (await call('core/fs.find', { pattern: '*.ts' })) as { files: string[] }
      let changed = 0
      for (const path of found) {
        const { text } = (await call('core/fs.readText', { path })) as { text: string }
        if (!text.includes('loadUser')) continue
        await call('core/fs.edit', { path, oldText: 'loadUser', newText: 'readUser', replaceAll: true })
        changed++
      }
      return changed
    },
    script: `const { files } = await tools.core.fs.find({ pattern: '*.ts' })
let changed = 0
for (const path of files) {
  const { text } = await tools.core.fs.readText({ path })
  if (!text.includes('loadUser')) continue
  await tools.core.fs.edit({ path, oldText: 'loadUser', newText: 'readUser', replaceAll: true })
  changed++
}
return changed`,
  }
}

function summariseLogs(): Task {
  const levels = ['INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR']
  const log = (file: number) =>
    Array.from({ length: 600 }, (_, n) => {
      const level = levels[(n * 7 + file) % levels.length]
      const what =
        level === 'ERROR'
          ? `timeout after ${n % 3}s in service-${n % 4}`
          : `request ${n} of client ${n % 23} was served`
      return `2026-11-17T10:${String(n % 60).padStart(2, '0')}:00Z ${level} [worker-${file}] ${what}`
    }).join('\n')
  const files = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`logs/app-${n}.log`, log(n)]))
  return {
    name: 'summarises logs',
    files,
    async direct(call) {
      const counts: Record<string, number> = {}
      for (const path of Object.keys(files)) {
        // As models read long files: by pages.
        for (let offset = 1; offset <= 600; offset += 200) {
          const { text } = (await call('core/fs.readText', { path, offset, limit: 200 })) as { text: string }
          for (const [, level, service] of text.matchAll(/Z (ERROR|WARN) .*?(?:in (service-\d))?$/gm))
            counts[service ?? level!] = (counts[service ?? level!] ?? 0) + 1
        }
      }
      return counts
    },
    script: `const { files } = await tools.core.fs.find({ pattern: 'logs/*.log' })
const counts = {}
for (const path of files) {
  const { text } = await tools.core.fs.readText({ path })
  for (const [, level, service] of text.matchAll(/Z (ERROR|WARN) .*?(?:in (service-\\d))?$/gm))
    counts[service ?? level] = (counts[service ?? level] ?? 0) + 1
}
return counts`,
  }
}

function fillForms(): Task {
  const speaker = (n: number) =>
    `<section><h2>Speaker ${n}: ${PEOPLE[n % 5]} of Room ${n}</h2><p>Email: speaker-${n}@conference.example, arrives 2026-12-${10 + (n % 9)}.</p>` +
    `<p>${`Talk ${n} is about durable execution, the recovery of processes and the people who run them. `.repeat(4)}</p></section>`
  const list = `<html><head><title>Speakers</title></head><body><article><h1>Speakers</h1>${Array.from({ length: 40 }, (_, n) => speaker(n)).join('')}</article></body></html>`
  const rules = `<html><head><title>Travel form</title></head><body><article><h1>Travel form</h1>${Array.from({ length: 40 }, (_, n) => `<h2>Rule ${n}</h2><p>${`The hotel of day ${n} is booked by the office when the form is complete. `.repeat(5)}</p>`).join('')}<p>Send name, email and arrival to /forms.</p></article></body></html>`
  const speakers = [3, 9, 14, 21, 33]
  const pattern = (n: number) => new RegExp(`Speaker ${n}: (\\w+) [^]*?Email: (\\S+), arrives ([\\d-]+)`)
  return {
    name: 'fills a form from a page',
    pages: { '/speakers': list, '/form': rules },
    input: (url) => ({ url, speakers }),
    async direct(call, url) {
      const page = async (path: string) =>
        ((await call('core/web.fetch', { url: `${url}${path}`, maxChars: 100_000 })) as { text: string }).text
      await page('/form')
      const text = await page('/speakers')
      for (const n of speakers) {
        const [, name, email, arrival] = pattern(n).exec(text)!
        await call('core/http.fetchJson', { url: `${url}/forms`, method: 'POST', body: { name, email, arrival } })
      }
      return speakers.length
    },
    script: `const page = (path) => tools.core.web.fetch({ url: input.url + path, maxChars: 100000 })
const [form, { text }] = await Promise.all([page('/form'), page('/speakers')])
const [, fields, path] = form.text.match(/Send ([\\w, ]+) to (\\S+)\\./)
for (const n of input.speakers) {
  const values = text.match(\`Speaker \${n}: (\\\\w+) [^]*?Email: (\\\\S+), arrives ([\\\\d-]+)\`).slice(1)
  const body = Object.fromEntries(fields.split(/, | and /).map((field, index) => [field, values[index]]))
  await tools.core.http.fetchJson({ url: input.url + path, method: 'POST', body })
}
return input.speakers.length`,
  }
}

function reconcile(): Task {
  const rows = Array.from({ length: 500 }, (_, n) => ({
    reference: `INV-${10_000 + n}`,
    amount: 100 + ((n * 31) % 900),
    payer: `Customer ${n % 80} Ltd`,
  }))
  const bank = rows
    .filter((_, n) => n % 97 !== 5)
    .map(
      ({ reference, amount, payer }, n) =>
        `2026-10-${10 + (n % 20)};${reference};${n % 119 === 7 ? amount + 1 : amount};${payer};GBP`,
    )
  return {
    name: 'reconciles two lists',
    files: { 'bank.csv': `date;reference;amount;payer;currency\n${bank.join('\n')}\n` },
    pages: { '/invoices': JSON.stringify(rows) },
    input: (url) => url,
    async direct(call, url) {
      const { text } = (await call('core/fs.readText', { path: 'bank.csv' })) as { text: string }
      const { json } = (await call('core/http.fetchJson', { url: `${url}/invoices` })) as { json: typeof rows }
      const paid = new Map(
        text
          .split('\n')
          .map((line) => line.split(';'))
          .map(([, reference, amount]) => [reference, Number(amount)]),
      )
      return json.filter(({ reference, amount }) => paid.get(reference) !== amount).map(({ reference }) => reference)
    },
    script: `const [{ text }, { json }] = await Promise.all([
  tools.core.fs.readText({ path: 'bank.csv' }), tools.core.http.fetchJson({ url: input + '/invoices' })])
const paid = new Map(text.split('\\n').map((line) => line.split(';')).map(([, ref, amount]) => [ref, Number(amount)]))
return json.filter(({ reference, amount }) => paid.get(reference) !== amount).map(({ reference }) => reference)`,
  }
}
