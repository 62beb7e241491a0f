import { describe, expect, it } from 'vitest'
import { questionForm } from './question-form.ts'

describe('a default answer', () => {
  const properties = (question: Parameters<typeof questionForm>[1]) =>
    questionForm('order', question).requestedSchema.properties

  it('is offered when all of it can be seen', () => {
    expect(properties({ question: 'Lunch?', defaultAnswer: 'soup' }).answer).toMatchObject({ default: 'soup' })
  })

  it.each(['so\u200bup', 'soup\nand pay', 'x'.repeat(1_001)])(
    'is left out when part of it would be hidden',
    (hidden) => {
      expect(properties({ question: 'Lunch?', defaultAnswer: hidden }).answer).not.toHaveProperty('default')
      const form = {
        type: 'object',
        properties: {
          dish: { type: 'string', default: hidden },
          sides: { type: 'array', items: { type: 'string', enum: ['salad'] }, default: [hidden] },
          hot: { type: 'boolean', default: true },
        },
      }
      const { dish, sides, hot } = JSON.parse(JSON.stringify(properties({ question: 'Lunch?', form })))
      expect([dish.default, sides.default, hot.default]).toEqual([undefined, undefined, true])
    },
  )
})
