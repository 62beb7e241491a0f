import type { Done } from '../../components/last-done.tsx'
import { createValue } from '../../state/create-value.ts'

/** What was decided last on this page. */
export const lastReview = createValue<Done | undefined>(undefined)
