import { ApiBody } from '@nestjs/swagger';
import { VideoBody } from './video.body.js';

/** An order for each family, as Swagger offers it: what one family takes another refuses. */
const EXAMPLES: Readonly<Record<string, { readonly value: VideoBody }>> = {
  'by aspect ratio': {
    value: {
      model: 'vid-motion',
      prompt: 'Waves roll slowly towards a lighthouse at dusk',
      seconds: '5',
      aspect_ratio: '16:9',
    },
  },
  'by size': {
    value: {
      model: 'vid-omni',
      prompt: 'Waves roll slowly towards a lighthouse at dusk',
      seconds: '10',
      size: '1280x720',
    },
  },
};

/** Documents the body of an order with its examples. */
export function VideoBodyExamples(): MethodDecorator {
  return ApiBody({ type: VideoBody, examples: { ...EXAMPLES } });
}
