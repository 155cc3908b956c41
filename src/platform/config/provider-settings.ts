import { baseUrl, headerKey, oneOf, secret, setting, text } from './setting.js';

/** Settings that give access to providers, or have the sandbox stand in for them. */
export const PROVIDER_SETTINGS = {
  OPENAI_API_KEY: secret(
    setting(
      'openaiApiKey',
      'unset',
      undefined,
      headerKey,
      'Chat and images. [Several keys](#several-routes-and-several-keys) with commas between them are taken here and in the next ones',
    ),
  ),
  OPENAI_BASE_URL: setting(
    'openaiBaseUrl',
    "vendor's",
    'https://api.openai.com/v1',
    baseUrl,
    'Any OpenAI-compatible server, with `/v1`',
  ),
  ANTHROPIC_API_KEY: secret(
    setting(
      'anthropicApiKey',
      'unset',
      undefined,
      headerKey,
      'Chat models of your `CATALOG_FILE` ([how](../guides/vendors/anthropic.md))',
    ),
  ),
  ANTHROPIC_BASE_URL: setting(
    'anthropicBaseUrl',
    "vendor's",
    'https://api.anthropic.com',
    baseUrl,
    'Any server of the Messages protocol, without `/v1`',
  ),
  VIDEO_API_KEY: secret(setting('videoApiKey', 'unset', undefined, headerKey, 'Videos')),
  VIDEO_BASE_URL: setting(
    'videoBaseUrl',
    'unset',
    undefined,
    baseUrl,
    'An OpenAI-style `/v1/videos` upstream, with `/v1`',
  ),
  ELEVENLABS_API_KEY: secret(
    setting('elevenlabsApiKey', 'unset', undefined, headerKey, 'All `aud-*` models'),
  ),
  ELEVENLABS_BASE_URL: setting(
    'elevenlabsBaseUrl',
    "vendor's",
    'https://api.elevenlabs.io',
    baseUrl,
    'Without `/v1`',
  ),
  TTAPI_API_KEY: secret(
    setting('ttapiApiKey', 'unset', undefined, headerKey, 'All `song-*` and `tune-*` models'),
  ),
  TTAPI_BASE_URL: setting(
    'ttapiBaseUrl',
    "vendor's",
    'https://api.ttapi.io',
    baseUrl,
    'Without a path',
  ),
  GEMINI_API_KEY: secret(
    setting(
      'geminiApiKey',
      'unset',
      undefined,
      headerKey,
      'Models of your `CATALOG_FILE` at `gemini` ([how](../guides/vendors/gemini.md))',
    ),
  ),
  GEMINI_BASE_URL: setting(
    'geminiBaseUrl',
    "vendor's",
    'https://generativelanguage.googleapis.com/v1beta',
    baseUrl,
    'With the version, such as `/v1beta`',
  ),
  SANDBOX: setting(
    'sandbox',
    'auto',
    'auto',
    oneOf('auto', 'on', 'off'),
    '`auto`: the sandbox upstream serves everything when no provider key is set; `on`: serves each provider without a key; `off`',
  ),
  SANDBOX_CHARGES: setting(
    'sandboxCharges',
    'off',
    'off',
    oneOf('on', 'off'),
    '`on`: accounts with real money may buy the work of the sandbox; `off`: only play money does ([sandbox](../guides/sandbox.md#play-money))',
  ),
  VENDORS_DIR: setting(
    'vendorsDir',
    'unset',
    undefined,
    text(),
    'Folder with a file `<id>.json` for each further vendor of videos, images or music ([how](../guides/add-a-vendor.md)). A file replaces the shipped one of its id. A model that a file offers is sold once `CATALOG_FILE` has a price for its id',
  ),
} as const;
