/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hostile clients and resolvers can send: "make fuzz-dns".  The input's first two bytes say
 * how long the query is; the answer follows it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"
#include "err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Memory of just its size, so that what is read beyond is seen */
static uint8_t *copy(const uint8_t *data, size_t size)
{
	uint8_t *ret = malloc(size + (size == 0));

	if (ret == NULL)
		abort();
	memcpy(ret, data, size);
	return ret;
}

static void must(int holds)
{
	if (!holds)
		abort();
}

static void try_pair(uint8_t *query, size_t query_len, uint8_t *answer, size_t answer_len)
{
	uint8_t bare[DNS_BARE_BYTES];
	struct dns_query q, again;
	struct err e = { 0 };
	size_t len;

	if (dns_check_query(query, query_len, &q, &e) < 0) {
		must(e.msg[0] != '\0');
		return;
	}
	must(q.udp_bytes >= DNS_UDP_BYTES && q.question_bytes <= DNS_NAME_BYTES + 4);
	len = dns_make_servfail(query, &q, bare);
	must(len <= query_len && dns_is_answer(bare, len, query, &q));
	must(dns_rcode(bare) == DNS_SERVFAIL && dns_check_query(bare, len, &again, &e) < 0);
	if (dns_is_answer(answer, answer_len, query, &q)) {
		len = dns_make_truncated(answer, &q, bare);
		must(len <= DNS_UDP_BYTES && len <= answer_len);
		must(dns_is_answer(bare, len, query, &q));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t query_len;
	uint8_t *query, *answer;

	if (size < 2)
		return 0;
	query_len = (size_t)(data[0] << 8 | data[1]);
	data += 2;
	size -= 2;
	if (query_len > size)
		query_len = size;
	query = copy(data, query_len);
	answer = copy(data + query_len, size - query_len);
	try_pair(query, query_len, answer, size - query_len);
	free(query);
	free(answer);
	return 0;
}
