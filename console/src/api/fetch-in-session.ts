import { endSession } from './session.ts'

/** A fetch that notices when the session has ended; a token that is refused at the sign-in is another matter. */
export async function fetchInSession(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(input, init)
  if (response.status === 401 && !String(input).endsWith('/v1/sessions')) endSession()
  return response
}
