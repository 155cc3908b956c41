const ROUTES = [{ provider: 'vendor', upstream_model: 'v' }];
/** A catalog whose rows have lines, tiers, and prices by quality, size, resolution and sound; its provider has yet no address. */
export const PRICED_ROWS = {
  providers: [{ id: 'vendor', protocol: 'openai', base_url: '', api_key_env: '' }],
  models: [
    {
      id: 'tiered',
      operation: 'chat',
      routes: ROUTES,
      limits: { max_output_tokens: 1_000 },
      price: {
        unit: 'token',
        input_micro_usd_per_million: 3_000_000,
        cached_input_micro_usd_per_million: 300_000,
        cache_write_micro_usd_per_million: 3_750_000,
        output_micro_usd_per_million: 15_000_000,
        tiers: [
          {
            above_input_tokens: 10_000,
            input_micro_usd_per_million: 6_000_000,
            cached_input_micro_usd_per_million: 600_000,
            output_micro_usd_per_million: 22_500_000,
          },
        ],
      },
    },
    {
      id: 'gen-image-2',
      routes: ROUTES,
      constants: { quality: 'high' },
      price: {
        unit: 'request',
        micro_usd: 60_000,
        by_quality_size: [
          { quality: 'high', size: '1024x1024', micro_usd: 167_000 },
          { quality: 'low', size: '1024x1024', micro_usd: 11_000 },
        ],
      },
    },
    {
      id: 'vid-motion',
      constants: { resolution: '1080p', sound: true },
      price: {
        unit: 'video',
        by_seconds: [
          { seconds: '5', micro_usd: 1 },
          { seconds: '10', micro_usd: 2 },
        ],
        per_second: [
          { resolution: '1080p', sound: false, micro_usd_per_second: 50_000 },
          { resolution: '1080p', sound: true, micro_usd_per_second: 70_000 },
        ],
      },
    },
  ],
};
