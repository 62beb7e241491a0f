/** The logo of tool-hub. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent-fill)" />
      <g fill="none" stroke="#fff" strokeWidth="2.5" strokeLinecap="round">
        <circle cx="16" cy="16" r="4" />
        <path d="M16 5.5V12M16 20v6.5M6.9 10.75 12.5 14M19.5 18l5.6 3.25M25.1 10.75 19.5 14M12.5 18l-5.6 3.25" />
      </g>
    </svg>
  )
}
