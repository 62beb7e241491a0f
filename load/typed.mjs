import { ERRORS } from '../packages/tool-hub/dist/index.js'

/** What is wrong with an answer to a call, if it is neither a result nor an error that says what it is. */
export function untyped({ status, json, text }) {
  if (status === 200) return untypedResult(json) && `200 with ${text.slice(0, 200)}`
  return isError(json?.error) ? undefined : `${status} with ${text.slice(0, 200)}`
}

/** The same for the result of a call. */
export function untypedResult(result) {
  if (result?.ok === true && typeof result.callId === 'string') return undefined
  if (result?.ok === false && typeof result.callId === 'string' && isError(result.error)) return undefined
  return JSON.stringify(result)?.slice(0, 200) ?? 'nothing'
}

/** INTERNAL is a type, but no answer that a service may give because it is busy. */
export function isError(error) {
  return typeof error?.message === 'string' && Object.hasOwn(ERRORS, error.code) && error.code !== 'INTERNAL'
}
