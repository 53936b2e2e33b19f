import path from 'node:path'
import { endWithFile, inEachFile } from '../each-file.ts'

const files = { begun: 0, ended: 0 }
const ended: string[] = []
inEachFile(() => {
  afterAll(() => {
    files.ended += 1
  })
})

/** Tests of a file that leaves a spy and takes it for granted that the file before it left none. */
export function declareTests(): void {
  files.begun += 1
  endWithFile(() => ended.push('folder'))
  endWithFile(() => ended.push('program'))
  let atStart = ''
  beforeAll(() => {
    atStart = path.basename('/a/b')
  })
  test('there is no spy', () => {
    expect(atStart).toBe('b')
  })
  test('the hooks for each file have run once in each file before', () => {
    expect(files.ended).toBe(files.begun - 1)
  })
  test('what began last ended first in each file before', () => {
    expect(ended).toEqual(Array.from({ length: files.begun - 1 }, () => ['program', 'folder']).flat())
  })
  afterAll(() => {
    jest.spyOn(path, 'basename').mockReturnValue('of a spy')
  })
}
