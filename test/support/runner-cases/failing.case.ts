test('this fails', () => {
  expect(1).toBe(2)
})
