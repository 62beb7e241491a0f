import { createValue } from '../state/create-value.ts'

/** Title of the page that is shown; the shell puts it on the document, with the number of waiting approvals. */
export const pageTitle = createValue('')
