import { expect, it } from 'vitest'
import { fillEnv } from './run-command.ts'

it('hides what is a secret, or is called one, and nothing else', () => {
  const hidden: string[] = []
  const host = {
    secret: (name: string) => (name === 'model' ? 'secret-of-model' : undefined),
    hide: (values: readonly string[]) => void hidden.push(...values),
  }
  const variables = { OPENAI_KEY: 'key-of-the-shell', HOME: '/home/somebody', NODE_ENV: 'production' }
  const env = {
    ...{ A: '${secret:model}', B: '${env:OPENAI_KEY}', C: '${env:HOME}/agent', D: '${env:NODE_ENV}' },
    ...{ API_TOKEN: 'plainly-written', TOKEN: 'short' },
  }
  expect(fillEnv('x', env, { host, variables })).toEqual({
    ...{ A: 'secret-of-model', B: 'key-of-the-shell', C: '/home/somebody/agent', D: 'production' },
    ...{ API_TOKEN: 'plainly-written', TOKEN: 'short' },
  })
  expect(hidden).toEqual(['secret-of-model', 'key-of-the-shell', 'plainly-written'])
  expect(() => fillEnv('x', { A: '${env:NOWHERE}' }, { host, variables })).toThrow(/NOWHERE, which is not set/)
})
