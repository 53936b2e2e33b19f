test('is not run', () => {
  expect(1).toBe(1)
})

throw new Error('this file cannot be loaded')
