import { randomBytes } from 'node:crypto'

const GUESSES = 40

/** Somebody guesses tokens: soon told to wait, while those with a good one go on. */
export async function checkGuesses(checks, { client, token }) {
  const before = await client.request('GET', '/v1/tools', { token })
  const answers = []
  for (let count = 0; count < GUESSES; count++) {
    const guess = `th_${randomBytes(32).toString('base64url')}`
    answers.push(await client.request('GET', '/v1/tools', { token: guess }))
  }
  const statuses = answers.map(({ status }) => status)
  const first = statuses.indexOf(429)
  const isLimited = first > 0 && statuses.slice(0, first).every((status) => status === 401)
  const stays = first > 0 && statuses.slice(first).every((status) => status === 429)
  checks.that(`guesses of tokens have to wait after ${first}`, isLimited && stays && first <= 20, [
    ...new Set(statuses),
  ])
  const waitSeconds = Number(answers.at(-1).headers['retry-after'])
  checks.that('and for how long', waitSeconds > 0 && waitSeconds <= 60, String(waitSeconds))
  const signIn = await client.request('POST', '/v1/sessions', { body: { token: 'th_guess' } })
  checks.that('at the sign-in, too', signIn.status === 429, String(signIn.status))
  const after = await client.request('GET', '/v1/tools', { token })
  checks.that(
    'a valid token still works',
    before.status === 200 && after.status === 200,
    `${before.status}, ${after.status}`,
  )
}
