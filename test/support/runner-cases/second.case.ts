import { declareTests } from './leaving.ts'

declareTests()
