import { API_HEADERS } from './security-headers.ts'

/** Done, and nothing to say. */
export function answerNothing(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 204, headers: { ...API_HEADERS, ...headers } })
}
