/** The languages of people: pages are written in them, and the catalog may give its texts in each. */
export const languages = ['pt', 'en'] as const
export type Language = (typeof languages)[number]
