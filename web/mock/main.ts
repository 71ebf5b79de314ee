// `npm run mock`: made-up meters at http://127.0.0.1:8080, for `npm run dev`, and with what was built last.

import { Mock } from './server';

const mock = new Mock({ dist: new URL('../dist', import.meta.url).pathname, tick_ms: 500 });
const address = await mock.listen(8080);
console.log(`made-up meters at ${address}; stop with Ctrl-C`);
