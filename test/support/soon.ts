/**
 * Plans something for a time that is near but not yet over when it is checked: on a busy machine, that may take several
 * tries, each with a later time.
 */
export async function soon<T>(plan: (at: string) => Promise<T>, ms = 200): Promise<T> {
  try {
    return await plan(new Date(Date.now() + ms).toISOString())
  } catch (error) {
    if (!/is in the past/.test((error as Error).message)) throw error
    return soon(plan, ms * 2)
  }
}
