import type { Done } from '../../components/last-done.tsx'
import { createValue } from '../../state/create-value.ts'

/** What was answered last on this page. */
export const lastAnswer = createValue<Done | undefined>(undefined)
