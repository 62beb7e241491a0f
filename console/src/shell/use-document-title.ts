import { useEffect } from 'react'
import { pageTitle } from '../components/page-title.ts'
import { useValue } from '../state/create-value.ts'

/** Puts the page's title on the tab, with how many approvals wait: “(3) Live · tool-hub”. */
export function useDocumentTitle(waiting: number): void {
  const title = useValue(pageTitle)
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title === '' ? '' : `${title} · `}tool-hub`
  }, [title, waiting])
}
