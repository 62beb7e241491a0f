import { API_HEADERS } from './security-headers.ts'

const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }

/** An answer in JSON. */
export function answerJson(value: unknown, { status = 200 }: { readonly status?: number } = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: HEADERS })
}
