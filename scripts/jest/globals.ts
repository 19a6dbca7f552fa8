/** What test files import from '@jest/globals'. */
import * as circus from 'jest-circus';

export { jestExpect as expect } from '@jest/expect';
export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;
