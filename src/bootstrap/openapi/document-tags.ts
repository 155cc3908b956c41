/** The groups of operations in the order of the page: callers first, operators last. */
export const DOCUMENT_TAGS: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'chat',
    description: 'Text, one answer or a stream; takes tools, images and JSON schemas',
  },
  {
    name: 'audio',
    description:
      'Speech, dialogue, transcription, alignment, voice change, isolation, sound effects, music and dubbing',
  },
  { name: 'images', description: 'Images from text' },
  { name: 'music', description: 'Songs and tunes; each call starts a task' },
  { name: 'videos', description: 'Videos from text and images; each call starts a task' },
  { name: 'tasks', description: 'What became of songs, videos and dubs, their files and webhooks' },
  { name: 'models', description: 'Models with prices, limits and fields; voices' },
  {
    name: 'account',
    description: 'Balance, keys and calls of the account that the key belongs to',
  },
  { name: 'admin', description: 'For the operator: accounts, money, keys, records' },
  { name: 'health', description: 'For the operator: probes and metrics' },
];
