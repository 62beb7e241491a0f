import { text } from 'node:stream/consumers'

/** The JSON that a stream holds. */
export async function readJson(stream) {
  return JSON.parse(await text(stream))
}
