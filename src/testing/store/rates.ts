import type { StoreTests } from './suite-runner.ts'

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

    it('take several tokens at once, and of a small bucket all that it holds', async () => {
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

    it('go on after the clock was set back', async () => {
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
