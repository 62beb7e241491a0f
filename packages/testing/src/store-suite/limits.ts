import type { StoreTests } from '@tool-hub/core'

/** What accounts have used. */
export function budgetsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the budgets of ${name}`, () => {
    const none = { calls: 0, wallMs: 0, bytes: 0, cost: 0 }

    it('count a call and its cost, then what it used', async () => {
      const accounts = [
        { account: 'run', limits: { calls: 2 } },
        { account: 'day', limits: {} },
      ]
      expect(await store().budgets.reserve(accounts, 0.5)).toEqual({
        ok: true,
        used: [
          { ...none, calls: 1, cost: 0.5 },
          { ...none, calls: 1, cost: 0.5 },
        ],
      })
      expect(await store().budgets.settle(['run'], { wallMs: 1.5, bytes: 10 })).toEqual([
        { calls: 1, wallMs: 1.5, bytes: 10, cost: 0.5 },
      ])
      expect(await store().budgets.used('run')).toEqual({ calls: 1, wallMs: 1.5, bytes: 10, cost: 0.5 })
      expect(await store().budgets.used('nobody')).toEqual(none)
    })

    it('count in no account when one has no room', async () => {
      const full = { account: 'full', limits: { calls: 1 } }
      await store().budgets.reserve([full], 0)
      expect(await store().budgets.reserve([{ account: 'free', limits: {} }, full], 1)).toEqual({
        ok: false,
        account: 'full',
        used: { ...none, calls: 1 },
      })
      expect(await store().budgets.used('free')).toEqual(none)
      expect(await store().budgets.used('full')).toEqual({ ...none, calls: 1 })
    })

    for (const [limits, cost] of [
      [{ calls: 1 }, 0],
      [{ cost: 1 }, 0.5],
      [{ wallMs: 5 }, 0],
      [{ bytes: 5 }, 0],
      [{ calls: Number.NaN }, 0],
    ] as const)
      it(`refuse a call past ${JSON.stringify(limits)}`, async () => {
        await store().budgets.reserve([{ account: 'a', limits: {} }], 0.75)
        await store().budgets.settle(['a'], { wallMs: 5, bytes: 5 })
        const outcome = await store().budgets.reserve([{ account: 'a', limits }], cost)
        expect(outcome).toMatchObject({ ok: false, account: 'a' })
      })

    it('fail closed on numbers that are none, and give nothing for negative ones', async () => {
      const limits = { cost: 1, wallMs: 10 }
      const reserve = (cost: number) => store().budgets.reserve([{ account: 'a', limits }], cost)
      expect(await reserve(Number.NaN)).toMatchObject({ ok: false })
      expect(await reserve(-5)).toMatchObject({ ok: true, used: [{ cost: 0 }] })
      await store().budgets.settle(['a'], { wallMs: Number.NaN, bytes: -1 })
      expect(await reserve(0)).toMatchObject({ ok: false, used: { bytes: 0 } })
    })

    it('release a call that never ran, and never more than was taken', async () => {
      await store().budgets.reserve([{ account: 'a', limits: {} }], 2)
      await store().budgets.release(['a', 'nobody'], 2)
      await store().budgets.release(['a'], 2)
      expect(await store().budgets.used('a')).toEqual(none)
    })

    it('release exactly one call and its cost', async () => {
      for (const cost of [2, 3]) await store().budgets.reserve([{ account: 'a', limits: {} }], cost)
      await store().budgets.release(['a'], 2)
      expect(await store().budgets.used('a')).toEqual({ ...none, calls: 1, cost: 3 })
      await store().budgets.release(['a'], Number.NaN)
      expect(await store().budgets.used('a')).toEqual(none)
    })

    it('add up what each call used', async () => {
      await store().budgets.reserve([{ account: 'a', limits: {} }], 0)
      await store().budgets.settle(['a'], { wallMs: 5, bytes: 10 })
      expect(await store().budgets.settle(['a'], { wallMs: 2, bytes: 3 })).toEqual([
        { ...none, calls: 1, wallMs: 7, bytes: 13 },
      ])
    })

    it('say nothing of no account', async () => {
      expect(await store().budgets.reserve([], 1)).toEqual({ ok: true, used: [] })
      expect(await store().budgets.settle([], { wallMs: 1, bytes: 1 })).toEqual([])
      await store().budgets.release([], 1)
    })

    it('expire as the last call says', async () => {
      for (const expiresAt of [100, 200]) await store().budgets.reserve([{ account: 'a', limits: {}, expiresAt }], 0)
      await store().sweep(199)
      expect(await store().budgets.used('a')).toMatchObject({ calls: 2 })
      await store().budgets.reserve([{ account: 'a', limits: {} }], 0)
      await store().sweep(900)
      expect(await store().budgets.used('a')).toMatchObject({ calls: 3 })
    })

    it('can be forgotten, and are swept when they expired', async () => {
      for (const [account, expiresAt] of [
        ['told', 900],
        ['old', 100],
        ['young', 101],
        ['kept', undefined],
      ] as const)
        await store().budgets.reserve([{ account, limits: {}, expiresAt }], 0)
      await store().budgets.forget('told')
      await store().sweep(100)
      const calls = await Promise.all(
        ['told', 'old', 'young', 'kept'].map(async (account) => (await store().budgets.used(account)).calls),
      )
      expect(calls).toEqual([0, 0, 1, 1])
      expect(await store().budgets.settle(['told'], { wallMs: 1, bytes: 1 })).toEqual([none])
    })
  })
}

const DAY = 86_400_000

/** Token buckets. */
export function ratesSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the rates of ${name}`, () => {
    const slow = { bucket: 'slow', perSecond: 1, burst: 1 }
    const fast = { bucket: 'fast', perSecond: 10, burst: 2 }

    it('let a burst through, then say how long to wait, and mean it', async () => {
      expect(await store().rates.take([fast], 1000)).toEqual({ ok: true })
      expect(await store().rates.take([fast], 1000)).toEqual({ ok: true })
      expect(await store().rates.take([fast], 1000)).toEqual({ ok: false, bucket: 'fast', waitMs: 100 })
      expect(await store().rates.take([fast], 1099)).toEqual({ ok: false, bucket: 'fast', waitMs: 1 })
      expect(await store().rates.take([fast], 1100)).toEqual({ ok: true })
    })

    it('take several tokens together, and of a small bucket all that it holds', async () => {
      expect(await store().rates.take([fast, slow], 1000, 2)).toEqual({ ok: true })
      expect(await store().rates.take([fast], 1100, 2)).toEqual({ ok: false, bucket: 'fast', waitMs: 100 })
      expect(await store().rates.take([slow], 1999, 2)).toEqual({ ok: false, bucket: 'slow', waitMs: 1 })
      expect(await store().rates.take([fast, slow], 2000, 2)).toEqual({ ok: true })
    })

    it('take from no bucket when one is empty, and name the one that takes longest', async () => {
      await store().rates.take([slow, fast], 1000)
      expect(await store().rates.take([fast, slow], 1000)).toEqual({ ok: false, bucket: 'slow', waitMs: 1000 })
      expect(await store().rates.take([fast], 1000)).toEqual({ ok: true })
      expect(await store().rates.take([fast, slow], 1000)).toMatchObject({ bucket: 'slow' })
    })

    it('take nothing from no bucket, and name the first of several that take as long', async () => {
      expect(await store().rates.take([], 1000)).toEqual({ ok: true })
      const twins = ['a', 'b'].map((bucket) => ({ bucket, perSecond: 1, burst: 1 }))
      expect(await store().rates.take(twins, 1000)).toEqual({ ok: true })
      expect(await store().rates.take(twins, 1000)).toEqual({ ok: false, bucket: 'a', waitMs: 1000 })
    })

    it('lose nothing by a refusal', async () => {
      await store().rates.take([fast, slow], 1000, 2)
      for (const now of [1100, 1200, 1300])
        expect(await store().rates.take([fast, slow], now, 2)).toMatchObject({ ok: false, bucket: 'slow' })
      expect(await store().rates.take([fast], 1300, 2)).toEqual({ ok: true })
      expect(await store().rates.take([fast], 1300, 1)).toEqual({ ok: false, bucket: 'fast', waitMs: 100 })
    })

    it('continue after the clock was set back', async () => {
      await store().rates.take([slow], 1_000_000)
      expect(await store().rates.take([slow], 1000)).toEqual({ ok: false, bucket: 'slow', waitMs: 1000 })
      expect(await store().rates.take([slow], 2000)).toEqual({ ok: true })
    })

    it('say that waiting does not help where nothing is refilled', async () => {
      const never = { bucket: 'never', perSecond: 0, burst: 1 }
      expect(await store().rates.take([never], 0)).toEqual({ ok: true })
      await store().sweep(DAY)
      expect(await store().rates.take([never], DAY)).toEqual({
        ok: false,
        bucket: 'never',
        waitMs: Number.POSITIVE_INFINITY,
      })
    })
  })
}
