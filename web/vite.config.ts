import { defineConfig } from 'vite';

// `npm run dev` shows the sources over a collector, or over `npm run mock`, that listens here.
const collector = process.env.WATTSEAL_COLLECTOR ?? 'http://127.0.0.1:8080';

export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    // The content security policy takes nothing inline: no data: URLs, no inline polyfill.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { '/api': collector } },
});
