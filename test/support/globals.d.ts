import type * as globals from '@jest/globals'

declare global {
  const afterAll: typeof globals.afterAll
  const afterEach: typeof globals.afterEach
  const beforeAll: typeof globals.beforeAll
  const beforeEach: typeof globals.beforeEach
  const describe: typeof globals.describe
  const expect: typeof globals.expect
  const jest: Pick<typeof globals.jest, 'getSeed' | 'spyOn'>
  const test: typeof globals.test
}
