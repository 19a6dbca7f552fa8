/** Generates the Caddyfile of compose.yaml, with the same routes as the ingress of the chart. */
import { type Contract, NotFound, type ProblemKind, Unavailable } from '#libs/contract';
import { BadGateway } from '#libs/http';
import { ingressRoutes } from './chart-routes.ts';

/** Returns the Caddyfile. A service of compose.yaml has the name of its contract and listens on port 8080. */
export function caddyfile(contracts: readonly Contract[], apiPrefix: string): string {
  const { exact, prefixes, patterns } = ingressRoutes(contracts, apiPrefix);
  const lines = (service: string, name: string, matcher: string) => [
    `\t\t@${name} ${matcher}`,
    `\t\thandle @${name} {`,
    `\t\t\treverse_proxy ${service}:8080 {`,
    '\t\t\t\timport proxy',
    '\t\t\t}',
    '\t\t}',
  ];
  const routes = [
    ...patterns.map(({ service, path }) => [service, `path_regexp ^${path}/?$`]),
    ...exact.map(({ service, path }) => [service, `path ${path}`]),
    ...[...Map.groupBy(prefixes, ({ service }) => service)].map(([service, own]) => [
      service,
      `path ${own.map(({ path }) => `${path} ${path}/*`).join(' ')}`,
    ]),
  ].flatMap(([service = '', matcher = ''], at) => lines(service, `route${at + 1}`, matcher));
  return `# Generated from the contracts by \`npm run generate\`; do not edit.

{
	admin off
}

# for the health check of the container
http://127.0.0.1:2019 {
	bind 127.0.0.1
	respond 200
}

(proxy) {
	# a service that restarts accepts no connections for a moment
	lb_try_duration 5s
	flush_interval -1
}

{$SITE_ADDRESS::8080} {
	route {
${routes.join('\n')}
		error "This route does not exist." 404
	}
	handle_errors {
		header Content-Type application/problem+json
		header X-Request-Id {http.request.uuid}
		@unknown expression {http.error.status_code} == 404
		@unreachable expression {http.error.message}.startsWith('dial')
		handle @unknown {
			respond ${toProblem(NotFound, 'This route does not exist.')} ${NotFound.status}
		}
		handle @unreachable {
			header Retry-After 2
			respond ${toProblem(Unavailable)} ${Unavailable.status}
		}
		handle {
			header Retry-After 2
			respond ${toProblem(BadGateway)} ${BadGateway.status}
		}
	}
}
`;
}

/** Returns the JSON of a problem as a quoted value of a Caddyfile. */
function toProblem({ code, status, title }: ProblemKind, detail = title): string {
  const problem = { type: `urn:problem:${code}`, title, status, detail, code };
  const text = JSON.stringify(problem).replace(/\}$/, ',"request_id":"{http.request.uuid}"}');
  return `"${text.replaceAll('"', '\\"')}"`;
}
