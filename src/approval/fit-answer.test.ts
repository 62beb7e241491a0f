import { expect, it } from 'vitest'
import { fitAnswer } from './fit-answer.ts'

const formOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names.slice(0, 1),
})
const refused = (why: string) => ({
  code: 'INPUT_SCHEMA_INVALID',
  message: `The answer to x/ask cannot be used: ${why}`,
  fix: { hint: 'Answer with a text, or with the values of the form by name.' },
})
const answered = (form: object | undefined, answer: unknown) =>
  fitAnswer({ tool: 'x/ask', form: form as never }, answer)

it('a question without a form is answered with a text', async () => {
  expect(await answered(undefined, 'blue')).toEqual({ answer: 'blue' })
  await expect(answered(undefined, { color: 'blue' })).rejects.toMatchObject(refused('it is no text'))
})

it('a form is answered with its values', async () => {
  const form = formOf('color', 'size')
  expect(await answered(form, { color: 'blue', size: 'L' })).toEqual({
    answer: '',
    values: { color: 'blue', size: 'L' },
  })
  await expect(answered(form, { size: 'L' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
})

it('only a form of one field is answered with its text alone', async () => {
  expect(await answered(formOf('color'), 'blue')).toEqual({ answer: '', values: { color: 'blue' } })
  await expect(answered(formOf('color', 'size'), 'blue')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await expect(answered({ type: 'object' }, 'blue')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await expect(answered({}, 'blue')).rejects.toMatchObject(refused('it is no object'))
  await expect(answered({}, ['blue'])).rejects.toMatchObject(refused('it is no object'))
})
