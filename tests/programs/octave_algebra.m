% Dense algebra; each result is shown by a digest of its bytes.
maps = fileread ("/proc/self/maps");
if (isempty (strfind (maps, "openblas-openmp")))
  error ("octave does not use the OpenMP variant of OpenBLAS");
endif
show = @(name, x) printf ("%-12s %s\n", name, hash ("sha256", char (typecast (x(:).', "uint8"))));

rand ("twister", 12);
a = rand (400);
b = rand (400, 200);
show ("product", a * b);
show ("solve", a \ b);
[q, r] = qr (b);
show ("q", q);
show ("r", r);
show ("cholesky", chol (a' * a + 400 * eye (400)));
show ("symmetric", eig (a + a'));
show ("eigenvalues", real (sort (eig (a(1:150,1:150)))));
show ("svd", svd (b));
show ("inverse", inv (a));
show ("exponential", expm (a(1:100,1:100) / 100));
c = a(1:100,1:100);
for i = 1:500
  c = c * a(1:100,1:100);
  c = c / max (abs (c(:)));
endfor
show ("powers", c);
