import { expect, it } from 'vitest'
import { describeReports, type PlaceReport } from './place-report.ts'

it('describes hundreds of thousands of reports in one sentence', () => {
  const reports = Array.from(
    { length: 400_000 },
    (_, index): PlaceReport => ({ path: '/r/.git', about: 'assume-unchanged', name: `f${index}` }),
  )
  const [sentence, ...others] = describeReports(reports)
  expect(sentence).toContain('f0, f1, f2, f3, f4 and 399995 more')
  expect(others).toEqual([])
})
