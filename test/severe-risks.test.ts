import { SEVERE_RISKS } from '@tool-hub/core/protocol/severe-risks'
import { isSevere, RISKS, type Risk } from '@tool-hub/shell'
import { expect, it } from 'vitest'

it('the console shows as severe what no rule is proposed for', () => {
  const severe = (Object.keys(RISKS) as Risk[]).filter(isSevere).map((risk) => RISKS[risk])
  expect(SEVERE_RISKS).toEqual(severe)
})
