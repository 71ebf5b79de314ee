// src/openapi.ts is what `npm run api` makes of openapi.json. Whether that is what the collector says of itself is a test of the collector's.

import { readFileSync } from 'node:fs';
import openapiTS, { COMMENT_HEADER, astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';

test('the types of the API are those of its description', async () => {
  const description = new URL('../../openapi.json', import.meta.url);
  const types = readFileSync(new URL('../../src/openapi.ts', import.meta.url), 'utf8');
  expect(types).toBe(`${COMMENT_HEADER}${astToString(await openapiTS(description))}`);
});
