// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// server: answers POST /A/B with a body of C bytes by "A B C B*(B+1)/2"; says its port.
const http = require("http");
const server = http.createServer((request, response) => {
	let size = 0;
	request.on("data", part => { size += part.length; });
	request.on("end", () => {
		const [, a, b] = request.url.split("/").map(Number);
		let sum = 0;
		for (let i = 0; i <= b; i++) sum += i;
		response.end([a, b, size, sum].join(" "));
	});
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("SIGTERM", () => process.exit(0));
