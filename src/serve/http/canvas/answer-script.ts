import type { IncomingHttpHeaders } from 'node:http'
import { SCRIPT_NAMES } from '../../../abilities/canvas/canvas-scripts.ts'
import { readBuiltFile } from '../../../disk/read-built-file.ts'
import { sha256 } from '../../../value/hash.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { answerFile } from '../console/answer-file.ts'
import type { ConsoleFile } from '../console/load-console.ts'

const read = new Map<string, Promise<ConsoleFile | undefined>>()

/** A script that draws canvases. Frames without an origin load it, so it is for every origin; there is nothing secret in it. */
export async function answerScript(name: string, headers: IncomingHttpHeaders): Promise<Response> {
  const file = SCRIPT_NAMES.includes(name) ? await open(name) : undefined
  if (!file) {
    throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such script.', {
      hint: 'In a checkout of tool-hub, npm run build makes them.',
    })
  }
  const answer = answerFile(file, headers)
  answer.headers.set('cross-origin-resource-policy', 'cross-origin')
  return answer
}

/** Read once: they are large, and everybody may ask. */
function open(name: string): Promise<ConsoleFile | undefined> {
  const known = read.get(name)
  if (known) return known
  const reading = readAll(name)
  read.set(name, reading)
  reading.then(
    (file) => file ?? read.delete(name),
    () => read.delete(name),
  )
  return reading
}

async function readAll(name: string): Promise<ConsoleFile | undefined> {
  const [bytes, brotli, gzip] = await Promise.all(
    ['', '.br', '.gz'].map((ending) => readBuiltFile(`canvas-frame/${name}${ending}`)),
  )
  if (!bytes) return undefined
  const etag = `"${sha256(bytes).slice(0, 32)}"`
  const small = { ...(brotli && { brotli }), ...(gzip && { gzip }) }
  return { type: 'text/javascript; charset=utf-8', bytes, ...small, etag, isImmutable: false }
}
