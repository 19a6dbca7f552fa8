/** General information about the API. It imports no service, so that every service can import it. */

/** The `info` of the OpenAPI document, and the prefix of all API paths. The version is that of the release. */
export const about = {
  title: 'Process Document Service',
  version: '0.2.0',
  description:
    'Write, publish, share and export SOPs, playbooks and guides, and notify other systems with webhooks.',
  apiPrefix: '/api/v1',
};
