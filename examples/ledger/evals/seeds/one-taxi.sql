insert into entries values (1, 'taxi-1', '2026-03-17', 'expense: Bergen Taxi SA', 'ana', null, '88213-5', 'c64789de7f2d5a2ceab2c9e5bb884c2d056e98e6fcf448cb1943d0c0a078a656');
insert into lines values (1, 1, '6800', 40268, 0);
insert into lines values (1, 2, '2910', 0, 40268);
